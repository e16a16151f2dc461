// Written by make client-types from the service's AsyncAPI document: do not edit.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export type components = {
    schemas: {
        /** @description Position i names the device axis that application axis i takes. */
        SentBasis: {
            /** @enum {string} */
            permutation: "XYZ" | "XY-Z" | "X-YZ" | "X-Y-Z" | "-XYZ" | "-XY-Z" | "-X-YZ" | "-X-Y-Z" | "XZY" | "XZ-Y" | "X-ZY" | "X-Z-Y" | "-XZY" | "-XZ-Y" | "-X-ZY" | "-X-Z-Y" | "YXZ" | "YX-Z" | "Y-XZ" | "Y-X-Z" | "-YXZ" | "-YX-Z" | "-Y-XZ" | "-Y-X-Z" | "YZX" | "YZ-X" | "Y-ZX" | "Y-Z-X" | "-YZX" | "-YZ-X" | "-Y-ZX" | "-Y-Z-X" | "ZXY" | "ZX-Y" | "Z-XY" | "Z-X-Y" | "-ZXY" | "-ZX-Y" | "-Z-XY" | "-Z-X-Y" | "ZYX" | "ZY-X" | "Z-YX" | "Z-Y-X" | "-ZYX" | "-ZY-X" | "-Z-YX" | "-Z-Y-X";
        };
        SentSetCursorForce: {
            /** @description N */
            vector?: {
                x: number;
                y: number;
                z: number;
            };
            /** @deprecated */
            values?: {
                x: number;
                y: number;
                z: number;
            } | number[];
        };
        SentSetCursorPosition: {
            /** @description m */
            position?: {
                x: number;
                y: number;
                z: number;
            };
            /** @deprecated */
            values?: {
                x: number;
                y: number;
                z: number;
            } | number[];
        };
        SentSetAngularTorques: {
            /** @description N·mm */
            torques?: {
                a0: number;
                a1: number;
                a2: number;
            };
            /** @deprecated */
            values?: {
                a0: number;
                a1: number;
                a2: number;
            } | number[];
        };
        SentSetAngularPosition: {
            /** @description degrees */
            angles?: {
                a0: number;
                a1: number;
                a2: number;
            };
            /** @deprecated */
            values?: {
                a0: number;
                a1: number;
                a2: number;
            } | number[];
        };
        /** @description Metres, or newtons, or N·s/m: as the field says. */
        SentVec3: {
            x: number;
            y: number;
            z: number;
        };
        /** @description A quaternion whose norm is within 0.001 of 1; it is normalised. */
        SentRotation: {
            w: number;
            x: number;
            y: number;
            z: number;
        };
        /** @description Factors; one number means all three. */
        SentScale: number | {
            x: number;
            y: number;
            z: number;
        };
        /** @description What is sent must be complete in itself; {} sends nothing. */
        SentTransformParts: {
            position?: components["schemas"]["SentVec3"];
            rotation?: components["schemas"]["SentRotation"];
            scale?: components["schemas"]["SentScale"];
        };
        /** @description N·s/m; scalar and vector add, vector is in device axes; what is not sent is 0. */
        SentDamping: {
            scalar?: number;
            vector?: {
                x: number;
                y: number;
                z: number;
            };
        };
        /** @description What is not sent stays. */
        SentNavigation: ("off" | "bubble") | ({
            /** @enum {string} */
            mode?: "off" | "bubble";
            bubble?: {
                /** @description Metres, about the center; vertical is along y. */
                shape?: {
                    /** @enum {string} */
                    primitive: "sphere";
                    parameters: {
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "box";
                    parameters: {
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                    };
                } | {
                    /** @enum {string} */
                    primitive: "rounded_box";
                    parameters: {
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "ellipsoid";
                    parameters: {
                        a: {
                            x: number;
                            y: number;
                            z: number;
                        };
                    };
                } | {
                    /** @enum {string} */
                    primitive: "capsule";
                    parameters: {
                        a: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "capsule_vertical";
                    parameters: {
                        h: number;
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "capped_cylinder";
                    parameters: {
                        a: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "capped_cylinder_vertical";
                    parameters: {
                        h: number;
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "torus";
                    parameters: {
                        r1: number;
                        r2: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "capped_cone";
                    parameters: {
                        a: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        r1: number;
                        r2: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "rounded_cone";
                    parameters: {
                        a: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        r1: number;
                        r2: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "plane";
                    parameters: {
                        n: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        h: number;
                    };
                };
                center?: {
                    /** @enum {string} */
                    mode?: "fixed" | "drift";
                    position?: {
                        x: number;
                        y: number;
                        z: number;
                    } | null;
                    drift?: {
                        /** @description 1/m */
                        gain?: number;
                        max_ratio?: number;
                    } | unknown | unknown;
                } | unknown | unknown | unknown;
                velocity?: {
                    /** @description m */
                    zone_width?: number;
                    /** @description m/s */
                    max?: number;
                    exponent?: number;
                    /** @description s */
                    smoothing?: number;
                } | unknown | unknown | unknown | unknown;
                spring?: {
                    /** @description N/m */
                    stiffness?: number;
                    /** @description N/m */
                    wall_stiffness?: number;
                    /** @description N s/m */
                    damping?: number;
                } | unknown | unknown | unknown;
                damping?: {
                    /** @description N s/m */
                    dead_zone?: number;
                } | unknown;
                collision?: {
                    enabled?: boolean;
                    /** @description N */
                    threshold?: number;
                    /** @description N */
                    release?: number;
                    /** @description N */
                    full_stop?: number;
                    /** @description m */
                    extra_inflate?: number;
                } | unknown | unknown | unknown | unknown | unknown;
                /** @description m */
                hysteresis?: number;
            } | unknown | unknown | unknown | unknown | unknown | unknown | unknown;
        } | unknown | unknown);
        SentConstantField: {
            /** @enum {string} */
            field: "constant";
            /** @description x, y, z in N */
            force: {
                x: number;
                y: number;
                z: number;
            };
        };
        SentSpringField: {
            /** @enum {string} */
            field: "spring";
            /** @description x, y, z in m */
            centre: {
                x: number;
                y: number;
                z: number;
            };
            /** @description N/m */
            stiffness: number;
            axes?: ("x" | "y" | "z")[];
            /** @description N·s/m */
            damping?: number;
            /** @description m */
            dead_zone?: number;
            /** @description N */
            largest?: number;
        };
        SentAttractField: {
            /** @enum {string} */
            field: "attract";
            /** @description x, y, z in m */
            centre: {
                x: number;
                y: number;
                z: number;
            };
            /** @description m */
            range: number;
            /** @description N/m */
            stiffness: number;
            axes?: ("x" | "y" | "z")[];
            /** @description N·s/m */
            damping?: number;
            /** @description N */
            largest?: number;
        };
        SentDamperDampingField: {
            /** @enum {string} */
            field: "damper";
            /** @description N·s/m */
            damping: number | {
                x: number;
                y: number;
                z: number;
            };
        };
        SentDamperMatrixField: {
            /** @enum {string} */
            field: "damper";
            /** @description nine numbers, row by row; N·s/m */
            matrix: number[];
        };
        SentPlaneField: {
            /** @enum {string} */
            field: "plane";
            /** @description x, y, z in m */
            point: {
                x: number;
                y: number;
                z: number;
            };
            /** @description x, y, z, not all 0 */
            normal: {
                x: number;
                y: number;
                z: number;
            };
            /** @description N/m */
            stiffness: number;
            /** @description N·s/m */
            damping?: number;
            /** @description static and dynamic, the dynamic one not larger */
            friction?: {
                static: number;
                dynamic: number;
            };
        };
        SentSphereField: {
            /** @enum {string} */
            field: "sphere";
            /** @description x, y, z in m */
            centre: {
                x: number;
                y: number;
                z: number;
            };
            /** @description m */
            radius: number;
            /** @description N/m */
            stiffness: number;
            inside?: boolean;
            /** @description N·s/m */
            damping?: number;
            /** @description static and dynamic, the dynamic one not larger */
            friction?: {
                static: number;
                dynamic: number;
            };
        };
        SentBoxField: {
            /** @enum {string} */
            field: "box";
            /** @description x, y, z in m */
            centre: {
                x: number;
                y: number;
                z: number;
            };
            /** @description x, y, z in m, each above 0 */
            size: {
                x: number;
                y: number;
                z: number;
            };
            /** @description N/m */
            stiffness: number;
            /** @description quaternion w, x, y, z */
            rotation?: {
                w: number;
                x: number;
                y: number;
                z: number;
            };
            inside?: boolean;
            /** @description N·s/m */
            damping?: number;
            /** @description static and dynamic, the dynamic one not larger */
            friction?: {
                static: number;
                dynamic: number;
            };
        };
        SentCapsuleField: {
            /** @enum {string} */
            field: "capsule";
            /** @description x, y, z in m */
            start: {
                x: number;
                y: number;
                z: number;
            };
            /** @description x, y, z in m */
            end: {
                x: number;
                y: number;
                z: number;
            };
            /** @description m */
            radius: number;
            /** @description N/m */
            stiffness: number;
            inside?: boolean;
            /** @description N·s/m */
            damping?: number;
            /** @description static and dynamic, the dynamic one not larger */
            friction?: {
                static: number;
                dynamic: number;
            };
        };
        SentCylinderField: {
            /** @enum {string} */
            field: "cylinder";
            /** @description x, y, z in m */
            start: {
                x: number;
                y: number;
                z: number;
            };
            /** @description x, y, z in m */
            end: {
                x: number;
                y: number;
                z: number;
            };
            /** @description m */
            radius: number;
            /** @description N/m */
            stiffness: number;
            inside?: boolean;
            /** @description N·s/m */
            damping?: number;
            /** @description static and dynamic, the dynamic one not larger */
            friction?: {
                static: number;
                dynamic: number;
            };
        };
        /** @description What is not sent stays; null removes a field; {} changes nothing. */
        SentScene: {
            /** @description Fields by their ids. */
            fields?: {
                [key: string]: (components["schemas"]["SentConstantField"] | components["schemas"]["SentSpringField"] | components["schemas"]["SentAttractField"] | components["schemas"]["SentDamperDampingField"] | components["schemas"]["SentDamperMatrixField"] | components["schemas"]["SentPlaneField"] | components["schemas"]["SentSphereField"] | components["schemas"]["SentBoxField"] | components["schemas"]["SentCapsuleField"] | components["schemas"]["SentCylinderField"]) | null;
            };
            /** @description Whether all other fields are removed. */
            replace?: boolean;
        };
        SentArmOrCompactConfigure: {
            basis?: components["schemas"]["SentBasis"] | ("XYZ" | "XY-Z" | "X-YZ" | "X-Y-Z" | "-XYZ" | "-XY-Z" | "-X-YZ" | "-X-Y-Z" | "XZY" | "XZ-Y" | "X-ZY" | "X-Z-Y" | "-XZY" | "-XZ-Y" | "-X-ZY" | "-X-Z-Y" | "YXZ" | "YX-Z" | "Y-XZ" | "Y-X-Z" | "-YXZ" | "-YX-Z" | "-Y-XZ" | "-Y-X-Z" | "YZX" | "YZ-X" | "Y-ZX" | "Y-Z-X" | "-YZX" | "-YZ-X" | "-Y-ZX" | "-Y-Z-X" | "ZXY" | "ZX-Y" | "Z-XY" | "Z-X-Y" | "-ZXY" | "-ZX-Y" | "-Z-XY" | "-Z-X-Y" | "ZYX" | "ZY-X" | "Z-YX" | "Z-Y-X" | "-ZYX" | "-ZY-X" | "-Z-YX" | "-Z-Y-X");
            /** @description The presets of a compact fit no arm. */
            preset?: {
                /** @enum {string} */
                preset: "arm_front" | "arm_front_centered" | "compact_centered" | "compact_zup" | "custom" | "defaults" | "device_defaults" | "led_front" | "led_front_centered" | "minverse_centered" | "minverse_zup";
            } | ("arm_front" | "arm_front_centered" | "compact_centered" | "compact_zup" | "custom" | "defaults" | "device_defaults" | "led_front" | "led_front_centered" | "minverse_centered" | "minverse_zup");
            mount?: {
                transform: components["schemas"]["SentTransformParts"];
            } | components["schemas"]["SentTransformParts"];
            force_gate?: {
                gain: number;
            } | number;
            damping?: components["schemas"]["SentDamping"];
            navigation?: components["schemas"]["SentNavigation"];
            scene?: components["schemas"]["SentScene"];
            filters?: {
                force_gate?: {
                    gain: number;
                } | number;
                damping?: components["schemas"]["SentDamping"];
            };
            connection?: unknown;
            device_info?: unknown;
            extended_device_id?: unknown;
            extended_firmware_version?: unknown;
            gravity_compensation?: unknown;
            handedness?: unknown;
            hardware_version?: unknown;
            home_return?: unknown;
            major_version?: unknown;
            minor_version?: unknown;
            name?: unknown;
            paired_with?: unknown;
            port?: unknown;
            streaming_mode?: unknown;
            torque_scaling?: unknown;
            type?: unknown;
            clutch?: unknown;
        };
        SentArmOrCompactEntry: {
            device_id: string;
            commands?: {
                set_cursor_force?: components["schemas"]["SentSetCursorForce"];
                set_cursor_position?: components["schemas"]["SentSetCursorPosition"];
                set_angular_torques?: components["schemas"]["SentSetAngularTorques"];
                set_angular_torque?: components["schemas"]["SentSetAngularTorques"];
                set_angular_position?: components["schemas"]["SentSetAngularPosition"];
                /** @description m, 1 */
                set_transform?: {
                    transform: components["schemas"]["SentTransformParts"];
                    pivot?: unknown;
                };
                /** @deprecated */
                set_coordinate_origin?: ("device_base" | "workspace_center") | {
                    [key: string]: "device_base" | "workspace_center";
                };
                probe_position?: unknown;
                probe_cursor_position?: unknown;
                probe_orientation?: unknown;
                keep_alive?: unknown;
                hfx?: unknown;
                set_contact?: unknown;
            };
            /** @description Another name of commands. */
            command_data?: {
                set_cursor_force?: components["schemas"]["SentSetCursorForce"];
                set_cursor_position?: components["schemas"]["SentSetCursorPosition"];
                set_angular_torques?: components["schemas"]["SentSetAngularTorques"];
                set_angular_torque?: components["schemas"]["SentSetAngularTorques"];
                set_angular_position?: components["schemas"]["SentSetAngularPosition"];
                /** @description m, 1 */
                set_transform?: {
                    transform: components["schemas"]["SentTransformParts"];
                    pivot?: unknown;
                };
                /** @deprecated */
                set_coordinate_origin?: ("device_base" | "workspace_center") | {
                    [key: string]: "device_base" | "workspace_center";
                };
                probe_position?: unknown;
                probe_cursor_position?: unknown;
                probe_orientation?: unknown;
                keep_alive?: unknown;
                hfx?: unknown;
                set_contact?: unknown;
                configure?: components["schemas"]["SentArmOrCompactConfigure"];
            };
            configure?: components["schemas"]["SentArmOrCompactConfigure"];
        };
        SentArmOrCompactKeyedEntry: {
            device_id?: string;
            commands?: {
                set_cursor_force?: components["schemas"]["SentSetCursorForce"];
                set_cursor_position?: components["schemas"]["SentSetCursorPosition"];
                set_angular_torques?: components["schemas"]["SentSetAngularTorques"];
                set_angular_torque?: components["schemas"]["SentSetAngularTorques"];
                set_angular_position?: components["schemas"]["SentSetAngularPosition"];
                /** @description m, 1 */
                set_transform?: {
                    transform: components["schemas"]["SentTransformParts"];
                    pivot?: unknown;
                };
                /** @deprecated */
                set_coordinate_origin?: ("device_base" | "workspace_center") | {
                    [key: string]: "device_base" | "workspace_center";
                };
                probe_position?: unknown;
                probe_cursor_position?: unknown;
                probe_orientation?: unknown;
                keep_alive?: unknown;
                hfx?: unknown;
                set_contact?: unknown;
            };
            /** @description Another name of commands. */
            command_data?: {
                set_cursor_force?: components["schemas"]["SentSetCursorForce"];
                set_cursor_position?: components["schemas"]["SentSetCursorPosition"];
                set_angular_torques?: components["schemas"]["SentSetAngularTorques"];
                set_angular_torque?: components["schemas"]["SentSetAngularTorques"];
                set_angular_position?: components["schemas"]["SentSetAngularPosition"];
                /** @description m, 1 */
                set_transform?: {
                    transform: components["schemas"]["SentTransformParts"];
                    pivot?: unknown;
                };
                /** @deprecated */
                set_coordinate_origin?: ("device_base" | "workspace_center") | {
                    [key: string]: "device_base" | "workspace_center";
                };
                probe_position?: unknown;
                probe_cursor_position?: unknown;
                probe_orientation?: unknown;
                keep_alive?: unknown;
                hfx?: unknown;
                set_contact?: unknown;
                configure?: components["schemas"]["SentArmOrCompactConfigure"];
            };
            configure?: components["schemas"]["SentArmOrCompactConfigure"];
        };
        SentGripOrPenConfigure: {
            basis?: components["schemas"]["SentBasis"] | ("XYZ" | "XY-Z" | "X-YZ" | "X-Y-Z" | "-XYZ" | "-XY-Z" | "-X-YZ" | "-X-Y-Z" | "XZY" | "XZ-Y" | "X-ZY" | "X-Z-Y" | "-XZY" | "-XZ-Y" | "-X-ZY" | "-X-Z-Y" | "YXZ" | "YX-Z" | "Y-XZ" | "Y-X-Z" | "-YXZ" | "-YX-Z" | "-Y-XZ" | "-Y-X-Z" | "YZX" | "YZ-X" | "Y-ZX" | "Y-Z-X" | "-YZX" | "-YZ-X" | "-Y-ZX" | "-Y-Z-X" | "ZXY" | "ZX-Y" | "Z-XY" | "Z-X-Y" | "-ZXY" | "-ZX-Y" | "-Z-XY" | "-Z-X-Y" | "ZYX" | "ZY-X" | "Z-YX" | "Z-Y-X" | "-ZYX" | "-ZY-X" | "-Z-YX" | "-Z-Y-X");
            connection?: unknown;
            device_info?: unknown;
            extended_device_id?: unknown;
            extended_firmware_version?: unknown;
            hardware_version?: unknown;
            major_version?: unknown;
            minor_version?: unknown;
            name?: unknown;
            paired_with?: unknown;
            port?: unknown;
            streaming_mode?: unknown;
            type?: unknown;
            clutch?: unknown;
        };
        SentGripOrPenEntry: {
            device_id: string;
            commands?: {
                probe_position?: unknown;
                probe_cursor_position?: unknown;
                probe_orientation?: unknown;
                keep_alive?: unknown;
                hfx?: unknown;
                set_contact?: unknown;
            };
            /** @description Another name of commands. */
            command_data?: {
                probe_position?: unknown;
                probe_cursor_position?: unknown;
                probe_orientation?: unknown;
                keep_alive?: unknown;
                hfx?: unknown;
                set_contact?: unknown;
                configure?: components["schemas"]["SentGripOrPenConfigure"];
            };
            configure?: components["schemas"]["SentGripOrPenConfigure"];
        };
        SentGripOrPenKeyedEntry: {
            device_id?: string;
            commands?: {
                probe_position?: unknown;
                probe_cursor_position?: unknown;
                probe_orientation?: unknown;
                keep_alive?: unknown;
                hfx?: unknown;
                set_contact?: unknown;
            };
            /** @description Another name of commands. */
            command_data?: {
                probe_position?: unknown;
                probe_cursor_position?: unknown;
                probe_orientation?: unknown;
                keep_alive?: unknown;
                hfx?: unknown;
                set_contact?: unknown;
                configure?: components["schemas"]["SentGripOrPenConfigure"];
            };
            configure?: components["schemas"]["SentGripOrPenConfigure"];
        };
        /** @description One message, answered by one frame. `{}` is a message. Omitted commands are released by a message that holds a map of commands. Words of modules that are not shipped come on top. */
        SentMessage: {
            session?: {
                configure?: {
                    profile?: {
                        /** Format: printable */
                        name: string;
                    } | string;
                    basis?: components["schemas"]["SentBasis"] | ("XYZ" | "XY-Z" | "X-YZ" | "X-Y-Z" | "-XYZ" | "-XY-Z" | "-X-YZ" | "-X-Y-Z" | "XZY" | "XZ-Y" | "X-ZY" | "X-Z-Y" | "-XZY" | "-XZ-Y" | "-X-ZY" | "-X-Z-Y" | "YXZ" | "YX-Z" | "Y-XZ" | "Y-X-Z" | "-YXZ" | "-YX-Z" | "-Y-XZ" | "-Y-X-Z" | "YZX" | "YZ-X" | "Y-ZX" | "Y-Z-X" | "-YZX" | "-YZ-X" | "-Y-ZX" | "-Y-Z-X" | "ZXY" | "ZX-Y" | "Z-XY" | "Z-X-Y" | "-ZXY" | "-ZX-Y" | "-Z-XY" | "-Z-X-Y" | "ZYX" | "ZY-X" | "Z-YX" | "Z-Y-X" | "-ZYX" | "-ZY-X" | "-Z-YX" | "-Z-Y-X");
                    required_sdk_version?: string;
                    force_scale?: unknown;
                };
                /** @description All types unless some are named. */
                force_render_full_state?: {
                    device_types?: ("arm" | "inverse3" | "inverse3x" | "compact" | "minverse" | "grip" | "verse_grip" | "wireless_verse_grip" | "pen" | "custom_verse_grip")[];
                };
                /** @deprecated */
                set_basis?: ("XYZ" | "XY-Z" | "X-YZ" | "X-Y-Z" | "-XYZ" | "-XY-Z" | "-X-YZ" | "-X-Y-Z" | "XZY" | "XZ-Y" | "X-ZY" | "X-Z-Y" | "-XZY" | "-XZ-Y" | "-X-ZY" | "-X-Z-Y" | "YXZ" | "YX-Z" | "Y-XZ" | "Y-X-Z" | "-YXZ" | "-YX-Z" | "-Y-XZ" | "-Y-X-Z" | "YZX" | "YZ-X" | "Y-ZX" | "Y-Z-X" | "-YZX" | "-YZ-X" | "-Y-ZX" | "-Y-Z-X" | "ZXY" | "ZX-Y" | "Z-XY" | "Z-X-Y" | "-ZXY" | "-ZX-Y" | "-Z-XY" | "-Z-X-Y" | "ZYX" | "ZY-X" | "Z-YX" | "Z-Y-X" | "-ZYX" | "-ZY-X" | "-Z-YX" | "-Z-Y-X") | (-1 | 0 | 1)[][] | {
                    /** @enum {string} */
                    permutation: "XYZ" | "XY-Z" | "X-YZ" | "X-Y-Z" | "-XYZ" | "-XY-Z" | "-X-YZ" | "-X-Y-Z" | "XZY" | "XZ-Y" | "X-ZY" | "X-Z-Y" | "-XZY" | "-XZ-Y" | "-X-ZY" | "-X-Z-Y" | "YXZ" | "YX-Z" | "Y-XZ" | "Y-X-Z" | "-YXZ" | "-YX-Z" | "-Y-XZ" | "-Y-X-Z" | "YZX" | "YZ-X" | "Y-ZX" | "Y-Z-X" | "-YZX" | "-YZ-X" | "-Y-ZX" | "-Y-Z-X" | "ZXY" | "ZX-Y" | "Z-XY" | "Z-X-Y" | "-ZXY" | "-ZX-Y" | "-Z-XY" | "-Z-X-Y" | "ZYX" | "ZY-X" | "Z-YX" | "Z-Y-X" | "-ZYX" | "-ZY-X" | "-Z-YX" | "-Z-Y-X";
                } | {
                    matrix: (-1 | 0 | 1)[][];
                };
                /** @deprecated */
                set_coordinate_origin?: ("device_base" | "workspace_center") | {
                    [key: string]: "device_base" | "workspace_center";
                };
            };
            arm?: components["schemas"]["SentArmOrCompactEntry"][] | {
                [key: string]: components["schemas"]["SentArmOrCompactKeyedEntry"];
            };
            inverse3?: components["schemas"]["SentArmOrCompactEntry"][] | {
                [key: string]: components["schemas"]["SentArmOrCompactKeyedEntry"];
            };
            inverse3x?: components["schemas"]["SentArmOrCompactEntry"][] | {
                [key: string]: components["schemas"]["SentArmOrCompactKeyedEntry"];
            };
            compact?: components["schemas"]["SentArmOrCompactEntry"][] | {
                [key: string]: components["schemas"]["SentArmOrCompactKeyedEntry"];
            };
            minverse?: components["schemas"]["SentArmOrCompactEntry"][] | {
                [key: string]: components["schemas"]["SentArmOrCompactKeyedEntry"];
            };
            grip?: components["schemas"]["SentGripOrPenEntry"][] | {
                [key: string]: components["schemas"]["SentGripOrPenKeyedEntry"];
            };
            verse_grip?: components["schemas"]["SentGripOrPenEntry"][] | {
                [key: string]: components["schemas"]["SentGripOrPenKeyedEntry"];
            };
            wireless_verse_grip?: components["schemas"]["SentGripOrPenEntry"][] | {
                [key: string]: components["schemas"]["SentGripOrPenKeyedEntry"];
            };
            pen?: components["schemas"]["SentGripOrPenEntry"][] | {
                [key: string]: components["schemas"]["SentGripOrPenKeyedEntry"];
            };
            custom_verse_grip?: components["schemas"]["SentGripOrPenEntry"][] | {
                [key: string]: components["schemas"]["SentGripOrPenKeyedEntry"];
            };
        };
        /** @description Position i names the device axis that application axis i takes. */
        Basis: {
            /** @enum {string} */
            permutation: "XYZ" | "XY-Z" | "X-YZ" | "X-Y-Z" | "-XYZ" | "-XY-Z" | "-X-YZ" | "-X-Y-Z" | "XZY" | "XZ-Y" | "X-ZY" | "X-Z-Y" | "-XZY" | "-XZ-Y" | "-X-ZY" | "-X-Z-Y" | "YXZ" | "YX-Z" | "Y-XZ" | "Y-X-Z" | "-YXZ" | "-YX-Z" | "-Y-XZ" | "-Y-X-Z" | "YZX" | "YZ-X" | "Y-ZX" | "Y-Z-X" | "-YZX" | "-YZ-X" | "-Y-ZX" | "-Y-Z-X" | "ZXY" | "ZX-Y" | "Z-XY" | "Z-X-Y" | "-ZXY" | "-ZX-Y" | "-Z-XY" | "-Z-X-Y" | "ZYX" | "ZY-X" | "Z-YX" | "Z-Y-X" | "-ZYX" | "-ZY-X" | "-Z-YX" | "-Z-Y-X";
        };
        Damping: {
            scalar: number;
            vector?: {
                x: number;
                y: number;
                z: number;
            };
        };
        Navigation: {
            /** @enum {string} */
            mode: "off" | "bubble";
            bubble: {
                /** @description Metres, about the center; vertical is along y. */
                shape: {
                    /** @enum {string} */
                    primitive: "sphere";
                    parameters: {
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "box";
                    parameters: {
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                    };
                } | {
                    /** @enum {string} */
                    primitive: "rounded_box";
                    parameters: {
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "ellipsoid";
                    parameters: {
                        a: {
                            x: number;
                            y: number;
                            z: number;
                        };
                    };
                } | {
                    /** @enum {string} */
                    primitive: "capsule";
                    parameters: {
                        a: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "capsule_vertical";
                    parameters: {
                        h: number;
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "capped_cylinder";
                    parameters: {
                        a: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "capped_cylinder_vertical";
                    parameters: {
                        h: number;
                        r: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "torus";
                    parameters: {
                        r1: number;
                        r2: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "capped_cone";
                    parameters: {
                        a: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        r1: number;
                        r2: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "rounded_cone";
                    parameters: {
                        a: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        b: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        r1: number;
                        r2: number;
                    };
                } | {
                    /** @enum {string} */
                    primitive: "plane";
                    parameters: {
                        n: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        h: number;
                    };
                };
                /** @description Without a position: the reach centre. */
                center: {
                    /** @enum {string} */
                    mode: "fixed" | "drift";
                    drift: {
                        /** @description 1/m */
                        gain: number;
                        max_ratio: number;
                    };
                    position?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                };
                velocity: {
                    /** @description m */
                    zone_width: number;
                    /** @description m/s */
                    max: number;
                    exponent: number;
                    /** @description s */
                    smoothing: number;
                };
                spring: {
                    /** @description N/m */
                    stiffness: number;
                    /** @description N/m */
                    wall_stiffness: number;
                    /** @description N s/m */
                    damping: number;
                };
                damping: {
                    /** @description N s/m */
                    dead_zone: number;
                };
                collision: {
                    enabled: boolean;
                    /** @description N */
                    threshold: number;
                    /** @description N */
                    release: number;
                    /** @description N */
                    full_stop: number;
                    /** @description m */
                    extra_inflate: number;
                };
                /** @description m */
                hysteresis: number;
            };
        };
        ConstantField: {
            /** @enum {string} */
            field: "constant";
            /** @description x, y, z in N */
            force: {
                x: number;
                y: number;
                z: number;
            };
        };
        SpringField: {
            /** @enum {string} */
            field: "spring";
            /** @description x, y, z in m */
            centre: {
                x: number;
                y: number;
                z: number;
            };
            axes: ("x" | "y" | "z")[];
            /** @description N/m */
            stiffness: number;
            /** @description N·s/m */
            damping: number;
            /** @description m */
            dead_zone: number;
            /** @description N */
            largest: number;
        };
        AttractField: {
            /** @enum {string} */
            field: "attract";
            /** @description x, y, z in m */
            centre: {
                x: number;
                y: number;
                z: number;
            };
            axes: ("x" | "y" | "z")[];
            /** @description m */
            range: number;
            /** @description N/m */
            stiffness: number;
            /** @description N·s/m */
            damping: number;
            /** @description N */
            largest: number;
        };
        DamperDampingField: {
            /** @enum {string} */
            field: "damper";
            /** @description N·s/m */
            damping: number | {
                x: number;
                y: number;
                z: number;
            };
        };
        DamperMatrixField: {
            /** @enum {string} */
            field: "damper";
            /** @description nine numbers, row by row; N·s/m */
            matrix: number[];
        };
        PlaneField: {
            /** @enum {string} */
            field: "plane";
            /** @description x, y, z in m */
            point: {
                x: number;
                y: number;
                z: number;
            };
            /** @description x, y, z, not all 0 */
            normal: {
                x: number;
                y: number;
                z: number;
            };
            /** @description N/m */
            stiffness: number;
            /** @description N·s/m */
            damping: number;
            /** @description static and dynamic, the dynamic one not larger */
            friction: {
                static: number;
                dynamic: number;
            };
        };
        SphereField: {
            /** @enum {string} */
            field: "sphere";
            /** @description x, y, z in m */
            centre: {
                x: number;
                y: number;
                z: number;
            };
            /** @description m */
            radius: number;
            inside: boolean;
            /** @description N/m */
            stiffness: number;
            /** @description N·s/m */
            damping: number;
            /** @description static and dynamic, the dynamic one not larger */
            friction: {
                static: number;
                dynamic: number;
            };
        };
        BoxField: {
            /** @enum {string} */
            field: "box";
            /** @description x, y, z in m */
            centre: {
                x: number;
                y: number;
                z: number;
            };
            /** @description x, y, z in m, each above 0 */
            size: {
                x: number;
                y: number;
                z: number;
            };
            /** @description quaternion w, x, y, z */
            rotation: {
                w: number;
                x: number;
                y: number;
                z: number;
            };
            inside: boolean;
            /** @description N/m */
            stiffness: number;
            /** @description N·s/m */
            damping: number;
            /** @description static and dynamic, the dynamic one not larger */
            friction: {
                static: number;
                dynamic: number;
            };
        };
        CapsuleField: {
            /** @enum {string} */
            field: "capsule";
            /** @description x, y, z in m */
            start: {
                x: number;
                y: number;
                z: number;
            };
            /** @description x, y, z in m */
            end: {
                x: number;
                y: number;
                z: number;
            };
            /** @description m */
            radius: number;
            inside: boolean;
            /** @description N/m */
            stiffness: number;
            /** @description N·s/m */
            damping: number;
            /** @description static and dynamic, the dynamic one not larger */
            friction: {
                static: number;
                dynamic: number;
            };
        };
        CylinderField: {
            /** @enum {string} */
            field: "cylinder";
            /** @description x, y, z in m */
            start: {
                x: number;
                y: number;
                z: number;
            };
            /** @description x, y, z in m */
            end: {
                x: number;
                y: number;
                z: number;
            };
            /** @description m */
            radius: number;
            inside: boolean;
            /** @description N/m */
            stiffness: number;
            /** @description N·s/m */
            damping: number;
            /** @description static and dynamic, the dynamic one not larger */
            friction: {
                static: number;
                dynamic: number;
            };
        };
        /** @description Force fields of a session on a device; forces and materials are at the device. */
        Scene: {
            /** @description Fields by their ids. */
            fields: {
                [key: string]: components["schemas"]["ConstantField"] | components["schemas"]["SpringField"] | components["schemas"]["AttractField"] | components["schemas"]["DamperDampingField"] | components["schemas"]["DamperMatrixField"] | components["schemas"]["PlaneField"] | components["schemas"]["SphereField"] | components["schemas"]["BoxField"] | components["schemas"]["CapsuleField"] | components["schemas"]["CylinderField"];
            };
        };
        MoverFrame: {
            device_id: string;
            state: {
                cursor_position: {
                    x: number;
                    y: number;
                    z: number;
                };
                cursor_velocity: {
                    x: number;
                    y: number;
                    z: number;
                };
                angular_position: {
                    a0: number;
                    a1: number;
                    a2: number;
                };
                angular_velocity: {
                    a0: number;
                    a1: number;
                    a2: number;
                };
                body_orientation: {
                    w: number;
                    x: number;
                    y: number;
                    z: number;
                };
                current_cursor_force: {
                    x: number;
                    y: number;
                    z: number;
                };
                current_cursor_position: {
                    x: number;
                    y: number;
                    z: number;
                };
                current_angular_torques: {
                    a0: number;
                    a1: number;
                    a2: number;
                };
                current_angular_position: {
                    a0: number;
                    a1: number;
                    a2: number;
                };
                /** @enum {string} */
                control_domain: "undefined" | "cartesian" | "angular";
                /** @enum {string} */
                control_mode: "idle" | "force" | "position";
                /** @description Identity parts are left out. */
                transform: {
                    position?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                    rotation?: {
                        w: number;
                        x: number;
                        y: number;
                        z: number;
                    };
                    scale?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                };
                transform_velocity: {
                    position?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                    rotation?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                    scale?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                };
                /** @description Only while the session navigates. */
                navigation?: {
                    bubble: {
                        center: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        velocity_zone_width: number;
                        collision_extra_inflate: number;
                        /** @enum {string} */
                        zone: "dead" | "velocity" | "wall";
                    };
                    /** @description Identity parts are left out. */
                    transform: {
                        position?: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        rotation?: {
                            w: number;
                            x: number;
                            y: number;
                            z: number;
                        };
                        scale?: {
                            x: number;
                            y: number;
                            z: number;
                        };
                    };
                };
                clutch?: unknown;
                hfx?: unknown;
                scene?: unknown;
            };
            status: {
                calibrated: boolean;
                in_use: boolean;
                power_supply: boolean;
                ready: boolean;
                started: boolean;
                safety?: Record<string, never>;
                navigation?: Record<string, never>;
            };
            config?: {
                type: string;
                connection: string;
                port: string;
                paired_with: string | null;
                device_info: {
                    major_version: number;
                    minor_version: number;
                    id: string;
                    device_type: number;
                    uuid: string;
                };
                extended_device_id: string;
                extended_firmware_version: string;
                /** @enum {string} */
                handedness: "left" | "right";
                streaming_mode: string;
                gravity_compensation: {
                    enabled: boolean;
                    scaling_factor: number;
                };
                torque_scaling: {
                    enabled: boolean;
                };
                home_return: {
                    enabled: boolean;
                };
                preset: string;
                basis: components["schemas"]["Basis"];
                /** @description Identity parts are left out. */
                mount: {
                    position?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                    rotation?: {
                        w: number;
                        x: number;
                        y: number;
                        z: number;
                    };
                    scale?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                };
                /** @description Only where one was given. */
                name?: string;
                force_gate?: {
                    gain: number;
                };
                damping?: components["schemas"]["Damping"];
                /** @description In inverse words, in place of the two. */
                filters?: {
                    force_gate: {
                        gain: number;
                    };
                    damping: components["schemas"]["Damping"];
                };
                navigation?: components["schemas"]["Navigation"];
                scene?: components["schemas"]["Scene"];
                clutch?: unknown;
            };
        };
        HandleFrame: {
            device_id: string;
            state: {
                orientation: {
                    w: number;
                    x: number;
                    y: number;
                    z: number;
                };
                hall: number;
                button: boolean;
                buttons: {
                    a: boolean;
                    b: boolean;
                    c: boolean;
                };
                /** @description Identity parts are left out. */
                transform: {
                    position?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                    rotation?: {
                        w: number;
                        x: number;
                        y: number;
                        z: number;
                    };
                    scale?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                };
                battery_level?: number;
                battery_voltage?: number;
            };
            status: {
                ready: boolean;
                connected: boolean;
                awake: boolean;
                attached: boolean;
                error: number;
            };
            config?: {
                type: string;
                connection: string;
                port: string;
                paired_with: string | null;
                major_version: number;
                minor_version: number;
                hardware_version: number;
                basis: components["schemas"]["Basis"];
                /** @description Only where one was given. */
                name?: string;
            };
        };
        /** @description What of the message did not count; the rest did. */
        Fault: {
            path: string;
            reason: string;
        };
        /** @description The state of every device; `config` in the first frame and when it was asked for. */
        Frame: {
            session_id: number;
            arm?: components["schemas"]["MoverFrame"][];
            compact?: components["schemas"]["MoverFrame"][];
            grip?: components["schemas"]["HandleFrame"][];
            pen?: components["schemas"]["HandleFrame"][];
            inverse3?: components["schemas"]["MoverFrame"][];
            verse_grip?: components["schemas"]["HandleFrame"][];
            wireless_verse_grip?: components["schemas"]["HandleFrame"][];
            custom_verse_grip?: components["schemas"]["HandleFrame"][];
            errors?: components["schemas"]["Fault"][];
            tick?: number;
            time?: number;
        };
        MoverFrameV30: {
            state: {
                cursor_position: {
                    x: number;
                    y: number;
                    z: number;
                };
                cursor_velocity: {
                    x: number;
                    y: number;
                    z: number;
                };
                angular_position: {
                    a0: number;
                    a1: number;
                    a2: number;
                };
                angular_velocity: {
                    a0: number;
                    a1: number;
                    a2: number;
                };
                body_orientation: {
                    w: number;
                    x: number;
                    y: number;
                    z: number;
                };
                current_cursor_force: {
                    x: number;
                    y: number;
                    z: number;
                };
                current_cursor_position: {
                    x: number;
                    y: number;
                    z: number;
                };
                current_angular_torques: {
                    a0: number;
                    a1: number;
                    a2: number;
                };
                current_angular_position: {
                    a0: number;
                    a1: number;
                    a2: number;
                };
                /** @enum {string} */
                control_domain: "undefined" | "cartesian" | "angular";
                /** @enum {string} */
                control_mode: "idle" | "force" | "position";
                /** @description Identity parts are left out. */
                transform: {
                    position?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                    rotation?: {
                        w: number;
                        x: number;
                        y: number;
                        z: number;
                    };
                    scale?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                };
                transform_velocity: {
                    position?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                    rotation?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                    scale?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                };
                /** @enum {string} */
                mode: "idle" | "force" | "position";
                /** @description Only while the session navigates. */
                navigation?: {
                    bubble: {
                        center: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        velocity_zone_width: number;
                        collision_extra_inflate: number;
                        /** @enum {string} */
                        zone: "dead" | "velocity" | "wall";
                    };
                    /** @description Identity parts are left out. */
                    transform: {
                        position?: {
                            x: number;
                            y: number;
                            z: number;
                        };
                        rotation?: {
                            w: number;
                            x: number;
                            y: number;
                            z: number;
                        };
                        scale?: {
                            x: number;
                            y: number;
                            z: number;
                        };
                    };
                };
                clutch?: unknown;
                hfx?: unknown;
                scene?: unknown;
            };
            status: {
                calibrated: boolean;
                in_use: boolean;
                power_supply: boolean;
                ready: boolean;
                started: boolean;
                safety?: Record<string, never>;
                navigation?: Record<string, never>;
            };
            config?: {
                type: string;
                connection: string;
                port: string;
                paired_with: string | null;
                device_info: {
                    firmware_version: string;
                    hardware_version: string;
                    model: number;
                    id: string;
                    uuid: string;
                };
                extended_device_id: string;
                extended_firmware_version: string;
                /** @enum {string} */
                handedness: "left" | "right";
                streaming_mode: string;
                gravity_compensation: {
                    enabled: boolean;
                    scaling_factor: number;
                };
                torque_scaling: {
                    enabled: boolean;
                };
                home_return: {
                    enabled: boolean;
                };
                preset: string;
                basis: components["schemas"]["Basis"];
                /** @description Identity parts are left out. */
                mount: {
                    position?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                    rotation?: {
                        w: number;
                        x: number;
                        y: number;
                        z: number;
                    };
                    scale?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                };
                /** @description Only where one was given. */
                name?: string;
                force_gate?: {
                    gain: number;
                };
                damping?: components["schemas"]["Damping"];
                /** @description In inverse words, in place of the two. */
                filters?: {
                    force_gate: {
                        gain: number;
                    };
                    damping: components["schemas"]["Damping"];
                };
                navigation?: components["schemas"]["Navigation"];
                scene?: components["schemas"]["Scene"];
                clutch?: unknown;
            };
        };
        HandleFrameV30: {
            state: {
                orientation: {
                    w: number;
                    x: number;
                    y: number;
                    z: number;
                };
                hall: number;
                button: boolean;
                buttons: {
                    a: boolean;
                    b: boolean;
                    c: boolean;
                };
                /** @description Identity parts are left out. */
                transform: {
                    position?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                    rotation?: {
                        w: number;
                        x: number;
                        y: number;
                        z: number;
                    };
                    scale?: {
                        x: number;
                        y: number;
                        z: number;
                    };
                };
                battery_level?: number;
                battery_voltage?: number;
            };
            status: {
                ready: boolean;
                connected: boolean;
                awake: boolean;
                attached: boolean;
                error: number;
            };
            config?: {
                type: string;
                connection: string;
                port: string;
                paired_with: string | null;
                major_version: number;
                minor_version: number;
                hardware_version: number;
                basis: components["schemas"]["Basis"];
                /** @description Only where one was given. */
                name?: string;
            };
        };
        /** @description The state of every device; `config` in the first frame and when it was asked for. */
        FrameV30: {
            session_id: number;
            arm?: {
                [key: string]: components["schemas"]["MoverFrameV30"];
            };
            compact?: {
                [key: string]: components["schemas"]["MoverFrameV30"];
            };
            grip?: {
                [key: string]: components["schemas"]["HandleFrameV30"];
            };
            pen?: {
                [key: string]: components["schemas"]["HandleFrameV30"];
            };
            inverse3?: {
                [key: string]: components["schemas"]["MoverFrameV30"];
            };
            verse_grip?: {
                [key: string]: components["schemas"]["HandleFrameV30"];
            };
            wireless_verse_grip?: {
                [key: string]: components["schemas"]["HandleFrameV30"];
            };
            custom_verse_grip?: {
                [key: string]: components["schemas"]["HandleFrameV30"];
            };
            errors?: components["schemas"]["Fault"][];
            tick?: number;
            time?: number;
        };
        /** @description A device is there and settles. */
        DeviceConnected: {
            /** @constant */
            name: "device-connected";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "info";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                type: string;
                connection: string;
                port: string;
                firmware: string;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A device has gone. */
        DeviceDisconnected: {
            /** @constant */
            name: "device-disconnected";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "warning";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                type: string;
                connection: string;
                port: string;
                firmware: string;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A position was refused: another session holds. */
        DeviceBusy: {
            /** @constant */
            name: "device-busy";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "warning";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                session_id: number;
                held_by: number | null;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A device fell asleep or woke up. */
        DeviceSleep: {
            /** @constant */
            name: "device-sleep";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "info";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                awake: boolean;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A device connects again and again. */
        DeviceConnectionLoop: {
            /** @constant */
            name: "device-connection-loop";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "warning";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string | null;
                device_family: string | null;
                port: string;
                loops: number;
                window_s: number;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A firmware is too old for a feature. */
        DeviceProtocolUnsupported: {
            /** @constant */
            name: "device-protocol-unsupported";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "warning";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                feature: string;
                firmware: string;
                required: string;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A pair was made or dissolved. */
        DevicePairingChanged: {
            /** @constant */
            name: "device-pairing-changed";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "info";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                paired_with: string | null;
                origin: string;
                dropped: unknown;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A grip was taken or let go. */
        GripAttachmentChanged: {
            /** @constant */
            name: "grip-attachment-changed";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "info";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                attached: boolean;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A safety monitor acted. */
        DeviceSafetyTriggered: {
            /** @constant */
            name: "device-safety-triggered";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "error" | "warning" | "notice" | "info";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                /** @enum {string} */
                safety_type: "ebrake_triggered" | "ebrake_released" | "ebrake_waiting" | "kinetic_energy_limit" | "power_limit" | "contact_energy_limit" | "stiffness_warning" | "stop_braking" | "enable_released" | "fod_stage_changed" | "stall_detected" | "stability_ceiling" | "thermal_derating" | "device_stale" | "oscillation_detected" | "grip_dropped" | "stopped" | "released";
                from?: unknown;
                request?: unknown;
                silent_ms?: unknown;
                to?: unknown;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A calibration did not succeed. */
        DeviceCalibrationFailed: {
            /** @constant */
            name: "device-calibration-failed";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "warning";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                /** @enum {string} */
                reason: "pen_not_connected" | "pen_asleep" | "pen_lost" | "blocked" | "oscillating_hall";
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A wireless grip has 20 % left. */
        DeviceBatteryLow: {
            /** @constant */
            name: "device-battery-low";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "warning";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                battery_level: number;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A wireless grip has 5 % left. */
        DeviceBatteryCritical: {
            /** @constant */
            name: "device-battery-critical";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "error";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                battery_level: number;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description Gaps of the control loop left the motors without force; at once, then at most once a minute. `cause`: ticks_left_out, stolen_time, no_realtime_permission, busy_core or unknown. */
        DeviceForceInterrupted: {
            /** @constant */
            name: "device-force-interrupted";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "warning";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                device_id: string;
                device_family: string;
                interrupted_s: number;
                force_lost: number;
                gaps: number;
                longest_ms: number;
                window_s: number;
                cause: string;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A port is not opened any more until it is reset. */
        PortBlocked: {
            /** @constant */
            name: "port-blocked";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "error";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                port: string;
                state: string;
                reason: string;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A port was reset or cannot be used. */
        PortStateChanged: {
            /** @constant */
            name: "port-state-changed";
            /** @constant */
            category: "device";
            /** @enum {string} */
            level: "notice" | "warning";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                port: string;
                state: string;
                reason: string;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A client has connected. */
        SessionOpened: {
            /** @constant */
            name: "session-opened";
            /** @constant */
            category: "session";
            /** @enum {string} */
            level: "info";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                session_id: number;
                profile: string;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A client has gone. */
        SessionClosed: {
            /** @constant */
            name: "session-closed";
            /** @constant */
            category: "session";
            /** @enum {string} */
            level: "info";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                session_id: number;
                profile: string;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description Configuration of a session really changed. */
        SessionUpdated: {
            /** @constant */
            name: "session-updated";
            /** @constant */
            category: "session";
            /** @enum {string} */
            level: "info";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                session_id: number;
                scopes: string[];
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A client should change something. */
        SessionWarning: {
            /** @constant */
            name: "session-warning";
            /** @constant */
            category: "session";
            /** @enum {string} */
            level: "warning";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                session_id: number;
                /** @enum {string} */
                reason: "command_timeout" | "resume_refused" | "sdk_version" | "events_dropped" | "actor_failed";
                force_lost?: unknown;
                interval?: unknown;
                lost?: unknown;
                setting?: unknown;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description The loop is below 90 % of its rate. */
        ControlRateLow: {
            /** @constant */
            name: "control-rate-low";
            /** @constant */
            category: "system";
            /** @enum {string} */
            level: "warning";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                target_hz: number;
                measured_hz: number;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description The loop is below 50 % of its rate. */
        ControlRateCritical: {
            /** @constant */
            name: "control-rate-critical";
            /** @constant */
            category: "system";
            /** @enum {string} */
            level: "error";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                target_hz: number;
                measured_hz: number;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description The process that ends forces when the service is killed was lost, or another one took its place. */
        FailsafeChanged: {
            /** @constant */
            name: "failsafe-changed";
            /** @constant */
            category: "system";
            /** @enum {string} */
            level: "error" | "notice";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                running: boolean;
                reason: string;
                ports: number;
                restarts: number;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description How the loop did in the last control/statistics_period. */
        MainLoopStatistics: {
            /** @constant */
            name: "main-loop-statistics";
            /** @constant */
            category: "system";
            /** @enum {string} */
            level: "info";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                frequency: number;
                ticks: number;
                missed: number;
                lateness_p50_us: number;
                lateness_p99_us: number;
                lateness_max_us: number;
                tick_cost_us: number;
                devices: number;
                sessions: number;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description A message had a faulty part. */
        InvalidIoChannel: {
            /** @constant */
            name: "invalid-io-channel";
            /** @constant */
            category: "input";
            /** @enum {string} */
            level: "warning";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                session_id: number;
                received_data: string | null;
                path: string | null;
                reason: string;
                suppressed: number;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description An old form was used. */
        CommandDeprecated: {
            /** @constant */
            name: "command-deprecated";
            /** @constant */
            category: "input";
            /** @enum {string} */
            level: "notice";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                command: string;
                session_id: number;
                replacement: string;
                suppressed: number;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
        /** @description An old route was used. */
        HttpRouteDeprecated: {
            /** @constant */
            name: "http-route-deprecated";
            /** @constant */
            category: "input";
            /** @enum {string} */
            level: "notice";
            /**
             * Format: date-time
             * @description UTC
             */
            time: string;
            data: {
                route: string;
                replacement: string;
            };
            /** @description One sentence; its words may change. */
            message: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
};
export type SentBasis = components['schemas']['SentBasis'];
export type SentSetCursorForce = components['schemas']['SentSetCursorForce'];
export type SentSetCursorPosition = components['schemas']['SentSetCursorPosition'];
export type SentSetAngularTorques = components['schemas']['SentSetAngularTorques'];
export type SentSetAngularPosition = components['schemas']['SentSetAngularPosition'];
export type SentVec3 = components['schemas']['SentVec3'];
export type SentRotation = components['schemas']['SentRotation'];
export type SentScale = components['schemas']['SentScale'];
export type SentTransformParts = components['schemas']['SentTransformParts'];
export type SentDamping = components['schemas']['SentDamping'];
export type SentNavigation = components['schemas']['SentNavigation'];
export type SentConstantField = components['schemas']['SentConstantField'];
export type SentSpringField = components['schemas']['SentSpringField'];
export type SentAttractField = components['schemas']['SentAttractField'];
export type SentDamperDampingField = components['schemas']['SentDamperDampingField'];
export type SentDamperMatrixField = components['schemas']['SentDamperMatrixField'];
export type SentPlaneField = components['schemas']['SentPlaneField'];
export type SentSphereField = components['schemas']['SentSphereField'];
export type SentBoxField = components['schemas']['SentBoxField'];
export type SentCapsuleField = components['schemas']['SentCapsuleField'];
export type SentCylinderField = components['schemas']['SentCylinderField'];
export type SentScene = components['schemas']['SentScene'];
export type SentArmOrCompactConfigure = components['schemas']['SentArmOrCompactConfigure'];
export type SentArmOrCompactEntry = components['schemas']['SentArmOrCompactEntry'];
export type SentArmOrCompactKeyedEntry = components['schemas']['SentArmOrCompactKeyedEntry'];
export type SentGripOrPenConfigure = components['schemas']['SentGripOrPenConfigure'];
export type SentGripOrPenEntry = components['schemas']['SentGripOrPenEntry'];
export type SentGripOrPenKeyedEntry = components['schemas']['SentGripOrPenKeyedEntry'];
export type SentMessage = components['schemas']['SentMessage'];
export type Basis = components['schemas']['Basis'];
export type Damping = components['schemas']['Damping'];
export type Navigation = components['schemas']['Navigation'];
export type ConstantField = components['schemas']['ConstantField'];
export type SpringField = components['schemas']['SpringField'];
export type AttractField = components['schemas']['AttractField'];
export type DamperDampingField = components['schemas']['DamperDampingField'];
export type DamperMatrixField = components['schemas']['DamperMatrixField'];
export type PlaneField = components['schemas']['PlaneField'];
export type SphereField = components['schemas']['SphereField'];
export type BoxField = components['schemas']['BoxField'];
export type CapsuleField = components['schemas']['CapsuleField'];
export type CylinderField = components['schemas']['CylinderField'];
export type Scene = components['schemas']['Scene'];
export type MoverFrame = components['schemas']['MoverFrame'];
export type HandleFrame = components['schemas']['HandleFrame'];
export type Fault = components['schemas']['Fault'];
export type Frame = components['schemas']['Frame'];
export type MoverFrameV30 = components['schemas']['MoverFrameV30'];
export type HandleFrameV30 = components['schemas']['HandleFrameV30'];
export type FrameV30 = components['schemas']['FrameV30'];
export type DeviceConnected = components['schemas']['DeviceConnected'];
export type DeviceDisconnected = components['schemas']['DeviceDisconnected'];
export type DeviceBusy = components['schemas']['DeviceBusy'];
export type DeviceSleep = components['schemas']['DeviceSleep'];
export type DeviceConnectionLoop = components['schemas']['DeviceConnectionLoop'];
export type DeviceProtocolUnsupported = components['schemas']['DeviceProtocolUnsupported'];
export type DevicePairingChanged = components['schemas']['DevicePairingChanged'];
export type GripAttachmentChanged = components['schemas']['GripAttachmentChanged'];
export type DeviceSafetyTriggered = components['schemas']['DeviceSafetyTriggered'];
export type DeviceCalibrationFailed = components['schemas']['DeviceCalibrationFailed'];
export type DeviceBatteryLow = components['schemas']['DeviceBatteryLow'];
export type DeviceBatteryCritical = components['schemas']['DeviceBatteryCritical'];
export type DeviceForceInterrupted = components['schemas']['DeviceForceInterrupted'];
export type PortBlocked = components['schemas']['PortBlocked'];
export type PortStateChanged = components['schemas']['PortStateChanged'];
export type SessionOpened = components['schemas']['SessionOpened'];
export type SessionClosed = components['schemas']['SessionClosed'];
export type SessionUpdated = components['schemas']['SessionUpdated'];
export type SessionWarning = components['schemas']['SessionWarning'];
export type ControlRateLow = components['schemas']['ControlRateLow'];
export type ControlRateCritical = components['schemas']['ControlRateCritical'];
export type FailsafeChanged = components['schemas']['FailsafeChanged'];
export type MainLoopStatistics = components['schemas']['MainLoopStatistics'];
export type InvalidIoChannel = components['schemas']['InvalidIoChannel'];
export type CommandDeprecated = components['schemas']['CommandDeprecated'];
export type HttpRouteDeprecated = components['schemas']['HttpRouteDeprecated'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
