// Written by make client-types from the service's OpenAPI document: do not edit.

export type paths = {
    "/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The service's version. */
        get: operations["get_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is stopped. */
        get: operations["get_stop"];
        put?: never;
        /** Zero output on every device, until released. */
        post: operations["post_stop"];
        /** Let every device move again. */
        delete: operations["delete_stop"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{device}/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether a device is stopped.
         * @description Only an arm or a compact has it: a grip or a pen that is named by id or index is refused with 422 and the reason, a pattern leaves it out.
         */
        get: operations["get_device_id_stop"];
        put?: never;
        /**
         * Zero output on these devices, until released.
         * @description Only an arm or a compact has it: a grip or a pen that is named by id or index is refused with 422 and the reason, a pattern leaves it out.
         */
        post: operations["post_device_id_stop"];
        /**
         * Let these devices move again.
         * @description Only an arm or a compact has it: a grip or a pen that is named by id or index is refused with 422 and the reason, a pattern leaves it out.
         */
        delete: operations["delete_device_id_stop"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One setting, or all under it. */
        get: operations["get_settings_key"];
        put?: never;
        /** Set one. */
        post: operations["post_settings_key"];
        /** Back to the default. */
        delete: operations["delete_settings_key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every port, and which are blocked. */
        get: operations["get_ports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every open session. */
        get: operations["get_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the service can be used. */
        get: operations["get_readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
};
export type webhooks = Record<string, never>;
export type components = {
    schemas: {
        /** @description Every error, with and without the envelope. */
        Error: {
            /** @constant */
            ok: false;
            /** @description One sentence that says what to change. */
            error: string;
            data: null;
            deprecation_warning?: string;
        };
        Setting: {
            key: string;
            /** @description What is stored, or the default. */
            value: unknown;
            /** @description What the running service goes by. */
            effective: unknown;
            default: unknown;
            /** @enum {string} */
            type_hint: "BOOL" | "INT" | "FLOAT" | "STRING" | "ARR_STRING" | "VEC3" | "GENERIC";
            metadata: {
                constraint: Record<string, never>;
                locked: boolean;
                advanced: boolean;
            };
            description: string;
            unit?: string;
            /** @description Who gave the effective value over the stored one. */
            overridden_by?: string;
            /** @description Stored; it acts at the next start. */
            restart_required?: boolean;
        };
        Sessions: {
            session_count: number;
            sessions: components["schemas"]["Session"][];
        };
        Port: {
            port: string;
            path: string;
            /** @enum {string} */
            state: "active" | "blocked" | "unusable";
            device_id: string | null;
            loops: number;
            blocked_since: string | null;
            reason: string;
        };
        Session: {
            session_id: number;
            profile: {
                name: string;
            };
            basis: components["schemas"]["Basis"];
            required_sdk_version: string | null;
            /** @enum {string} */
            version: "3.0" | "3.1";
            remote_address: string;
            connected_at: string;
            frames_sent: number;
            commands_received: number;
            devices: string[];
        };
        /** @description Position i names the device axis that application axis i takes. */
        Basis: {
            /** @enum {string} */
            permutation: "XYZ" | "XY-Z" | "X-YZ" | "X-Y-Z" | "-XYZ" | "-XY-Z" | "-X-YZ" | "-X-Y-Z" | "XZY" | "XZ-Y" | "X-ZY" | "X-Z-Y" | "-XZY" | "-XZ-Y" | "-X-ZY" | "-X-Z-Y" | "YXZ" | "YX-Z" | "Y-XZ" | "Y-X-Z" | "-YXZ" | "-YX-Z" | "-Y-XZ" | "-Y-X-Z" | "YZX" | "YZ-X" | "Y-ZX" | "Y-Z-X" | "-YZX" | "-YZ-X" | "-Y-ZX" | "-Y-Z-X" | "ZXY" | "ZX-Y" | "Z-XY" | "Z-X-Y" | "-ZXY" | "-ZX-Y" | "-Z-XY" | "-Z-X-Y" | "ZYX" | "ZY-X" | "Z-YX" | "Z-Y-X" | "-ZYX" | "-ZY-X" | "-Z-YX" | "-Z-Y-X";
        };
    };
    responses: {
        /** @description A body, a value, a selector or the percent-encoding cannot be taken. */
        400: {
            headers: {
                "Cache-Control": "no-store";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The peer is not on this machine and has shown no valid token. */
        401: {
            headers: {
                "Cache-Control": "no-store";
                "WWW-Authenticate": "Bearer";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The Host may not come in, or a foreign web page asks. */
        403: {
            headers: {
                "Cache-Control": "no-store";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description No such route, device, session, setting or port. */
        404: {
            headers: {
                "Cache-Control": "no-store";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The path has other methods: `Allow` names them. */
        405: {
            headers: {
                "Cache-Control": "no-store";
                Allow: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is longer than 64 KiB. */
        413: {
            headers: {
                "Cache-Control": "no-store";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Too many requests from this peer. */
        429: {
            headers: {
                "Cache-Control": "no-store";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The headers are longer than 16 KiB. */
        431: {
            headers: {
                "Cache-Control": "no-store";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service failed: its log says why. */
        500: {
            headers: {
                "Cache-Control": "no-store";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service starts, stops or is busy: try again after `Retry-After` seconds. */
        503: {
            headers: {
                "Cache-Control": "no-store";
                "Retry-After": "1";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The state directory cannot be written: a restart would not know of it. */
        507: {
            headers: {
                "Cache-Control": "no-store";
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
};
export type Error = components['schemas']['Error'];
export type Setting = components['schemas']['Setting'];
export type Sessions = components['schemas']['Sessions'];
export type Port = components['schemas']['Port'];
export type Session = components['schemas']['Session'];
export type Basis = components['schemas']['Basis'];
export type Response400 = components['responses']['400'];
export type Response401 = components['responses']['401'];
export type Response403 = components['responses']['403'];
export type Response404 = components['responses']['404'];
export type Response405 = components['responses']['405'];
export type Response413 = components['responses']['413'];
export type Response429 = components['responses']['429'];
export type Response431 = components['responses']['431'];
export type Response500 = components['responses']['500'];
export type Response503 = components['responses']['503'];
export type Response507 = components['responses']['507'];
export type $defs = Record<string, never>;
export interface operations {
    get_version: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        project_name: string;
                        project_version: string;
                        interface: string;
                        build_time: string;
                        git_hash: string;
                        git_branch: string;
                        git_tag: string;
                        git_describe: string;
                        instance: string;
                    } | {
                        /** @constant */
                        ok: true;
                        error: null;
                        data: {
                            project_name: string;
                            project_version: string;
                            interface: string;
                            build_time: string;
                            git_hash: string;
                            git_branch: string;
                            git_tag: string;
                            git_describe: string;
                            instance: string;
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    get_stop: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        stopped: boolean;
                        everything: boolean;
                        devices: string[];
                        /** @constant */
                        stored?: false;
                    } | {
                        /** @constant */
                        ok: true;
                        error: null;
                        /** @description `stored` false: it holds, but is not on the disk yet; GET /readyz says so if that fails. */
                        data: {
                            stopped: boolean;
                            everything: boolean;
                            devices: string[];
                            /** @constant */
                            stored?: false;
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
            507: components["responses"]["507"];
        };
    };
    post_stop: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        stopped: boolean;
                        everything: boolean;
                        devices: string[];
                        /** @constant */
                        stored?: false;
                    } | {
                        /** @constant */
                        ok: true;
                        error: null;
                        /** @description `stored` false: it holds, but is not on the disk yet; GET /readyz says so if that fails. */
                        data: {
                            stopped: boolean;
                            everything: boolean;
                            devices: string[];
                            /** @constant */
                            stored?: false;
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
            507: components["responses"]["507"];
        };
    };
    delete_stop: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        stopped: boolean;
                        everything: boolean;
                        devices: string[];
                        /** @constant */
                        stored?: false;
                    } | {
                        /** @constant */
                        ok: true;
                        error: null;
                        /** @description `stored` false: it holds, but is not on the disk yet; GET /readyz says so if that fails. */
                        data: {
                            stopped: boolean;
                            everything: boolean;
                            devices: string[];
                            /** @constant */
                            stored?: false;
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
            507: components["responses"]["507"];
        };
    };
    get_device_id_stop: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path: {
                device: "arm" | "inverse3" | "inverse3x" | "compact" | "minverse" | "*" | "haptic*" | "inverse*" | "*inverse";
                id: "0" | "*";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        device_id: string;
                        stopped: boolean;
                        /** @constant */
                        stored?: false;
                    } | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & {
                            device_id: string;
                            stopped: boolean;
                            /** @constant */
                            stored?: false;
                        }) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    }) | {
                        /** @constant */
                        ok: true;
                        error: null;
                        data: {
                            device_id: string;
                            stopped: boolean;
                            /** @constant */
                            stored?: false;
                        } | {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & {
                                device_id: string;
                                stopped: boolean;
                                /** @constant */
                                stored?: false;
                            }) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            /** @description A body, a value, a selector or the percent-encoding cannot be taken. */
            400: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            /** @description No such route, device, session, setting or port. */
            404: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            /** @description The device's firmware is too old, or a device of its kind cannot have this. */
            422: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            /** @description The service starts, stops or is busy: try again after `Retry-After` seconds. */
            503: {
                headers: {
                    "Cache-Control": "no-store";
                    "Retry-After": "1";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
        };
    };
    post_device_id_stop: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path: {
                device: "arm" | "inverse3" | "inverse3x" | "compact" | "minverse" | "*" | "haptic*" | "inverse*" | "*inverse";
                id: "0" | "*";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        device_id: string;
                        stopped: boolean;
                        /** @constant */
                        stored?: false;
                    } | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & {
                            device_id: string;
                            stopped: boolean;
                            /** @constant */
                            stored?: false;
                        }) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    }) | {
                        /** @constant */
                        ok: true;
                        error: null;
                        data: {
                            device_id: string;
                            stopped: boolean;
                            /** @constant */
                            stored?: false;
                        } | {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & {
                                device_id: string;
                                stopped: boolean;
                                /** @constant */
                                stored?: false;
                            }) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            /** @description A body, a value, a selector or the percent-encoding cannot be taken. */
            400: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            /** @description No such route, device, session, setting or port. */
            404: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            /** @description The device's firmware is too old, or a device of its kind cannot have this. */
            422: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            /** @description The service starts, stops or is busy: try again after `Retry-After` seconds. */
            503: {
                headers: {
                    "Cache-Control": "no-store";
                    "Retry-After": "1";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            /** @description The state directory cannot be written: a restart would not know of it. */
            507: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
        };
    };
    delete_device_id_stop: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path: {
                device: "arm" | "inverse3" | "inverse3x" | "compact" | "minverse" | "*" | "haptic*" | "inverse*" | "*inverse";
                id: "0" | "*";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        device_id: string;
                        stopped: boolean;
                        /** @constant */
                        stored?: false;
                    } | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & {
                            device_id: string;
                            stopped: boolean;
                            /** @constant */
                            stored?: false;
                        }) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    }) | {
                        /** @constant */
                        ok: true;
                        error: null;
                        data: {
                            device_id: string;
                            stopped: boolean;
                            /** @constant */
                            stored?: false;
                        } | {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & {
                                device_id: string;
                                stopped: boolean;
                                /** @constant */
                                stored?: false;
                            }) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            /** @description A body, a value, a selector or the percent-encoding cannot be taken. */
            400: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            /** @description No such route, device, session, setting or port. */
            404: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            /** @description The device's firmware is too old, or a device of its kind cannot have this. */
            422: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            /** @description The service starts, stops or is busy: try again after `Retry-After` seconds. */
            503: {
                headers: {
                    "Cache-Control": "no-store";
                    "Retry-After": "1";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            /** @description The state directory cannot be written: a restart would not know of it. */
            507: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        results: (({
                            device_id: string;
                            /** @constant */
                            ok: true;
                        } & unknown) | {
                            device_id: string;
                            /** @constant */
                            ok: false;
                            error: string;
                        })[];
                    } | {
                        /** @constant */
                        ok: false;
                        error: string;
                        data: {
                            results: (({
                                device_id: string;
                                /** @constant */
                                ok: true;
                            } & unknown) | {
                                device_id: string;
                                /** @constant */
                                ok: false;
                                error: string;
                            })[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
        };
    };
    get_settings_key: {
        parameters: {
            query?: {
                /** @description List advanced settings as well. */
                advanced?: "true" | "false" | "1" | "0" | "yes" | "no";
                /** @description List deprecated settings as well. */
                deprecated?: "true" | "false" | "1" | "0" | "yes" | "no";
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path: {
                key: "communication" | "communication/bind_address" | "communication/bind_all_interfaces" | "communication/http" | "communication/http/port" | "communication/websocket" | "communication/websocket/port" | "communication/websocket/legacy_port" | "communication/events" | "communication/events/port" | "communication/allowed_origins" | "communication/allowed_hosts" | "communication/auth" | "communication/auth/required" | "communication/max_sessions" | "communication/streaming" | "communication/streaming/native" | "communication/streaming/threads" | "communication/streaming/longest_turn" | "communication/stop_storage_wait" | "communication/local" | "communication/local/enabled" | "communication/serial" | "communication/serial/enabled" | "communication/usb" | "communication/usb/enabled" | "filters" | "filters/oscillation" | "filters/oscillation/enabled" | "filters/oscillation/power" | "filters/oscillation/votes" | "filters/oscillation/floor_gain" | "filters/oscillation/window" | "control" | "control/frequency" | "control/spin" | "control/realtime_priority" | "control/cpu" | "control/statistics_period" | "sessions" | "sessions/command_timeout" | "scene" | "scene/timeout" | "devices" | "devices/simulated" | "devices/auto_pairing" | "devices/grip" | "devices/grip/attach_debounce" | "devices/grip/detach_debounce" | "devices/settle_time" | "devices/haptic*" | "devices/haptic*/filters" | "devices/haptic*/filters/force_scale" | "devices/haptic*/filters/force_scale/gain" | "devices/haptic*/filters/force_gate" | "devices/haptic*/filters/force_gate/gain" | "devices/detection" | "devices/detection/period" | "devices/detection/timeout" | "devices/detection/max_number_retry" | "devices/detection/block_on_loop" | "devices/detection/loop_threshold" | "devices/detection/loop_window" | "devices/detection/blocked_ports" | "devices/detection/serial_ports" | "devices/detection/advanced" | "devices/detection/advanced/allowed_vendor_id_filter" | "devices/detection/advanced/port_name_substring_filter" | "devices/falcon" | "devices/falcon/firmware_image" | "devices/falcon/counts_per_Nm" | "devices/hapi" | "devices/hapi/ports" | "serialization" | "serialization/vocabulary" | "serialization/explicit_fields" | "serialization/force_complete_transforms" | "serialization/status_safety" | "serialization/timestamps" | "features" | "features/grip_hook" | "features/grip_hook/enabled" | "features/grip_hook/timeout" | "features/screensaver" | "features/screensaver/enabled" | "features/screensaver/timeout" | "features/safe_trajectory" | "features/safe_trajectory/enabled" | "features/safe_trajectory/max_vel" | "features/kinetic_energy_limit" | "features/power_limit" | "features/contact_energy_limit" | "features/stiffness_warning" | "features/brake_latch" | "features/stop_brake" | "features/enable_button" | "features/clutch" | "features/clutch/enabled" | "features/session_force_scale" | "features/session_force_scale/enabled" | "features/workspace_zoom" | "features/workspace_zoom/enabled" | "features/hfx" | "features/hfx/enabled" | "features/contact" | "features/contact/enabled" | "features/scene" | "features/scene/enabled" | "features/modules" | "features/modules/enabled" | "presets" | "presets/freeform_profiles" | "simulation" | "simulation/settle_time" | "simulation/seed" | "simulation/stepped" | "misc" | "misc/log_level" | "misc/log_format" | "misc/hidden_settings" | "devices/arm" | "devices/arm/filters" | "devices/arm/filters/force_scale" | "devices/arm/filters/force_scale/gain" | "devices/compact" | "devices/compact/filters" | "devices/compact/filters/force_scale" | "devices/compact/filters/force_scale/gain" | "devices/grip/filters" | "devices/grip/filters/force_scale" | "devices/grip/filters/force_scale/gain" | "devices/pen" | "devices/pen/filters" | "devices/pen/filters/force_scale" | "devices/pen/filters/force_scale/gain" | "devices/arm/filters/force_gate" | "devices/arm/filters/force_gate/gain" | "devices/compact/filters/force_gate" | "devices/compact/filters/force_gate/gain" | "devices/grip/filters/force_gate" | "devices/grip/filters/force_gate/gain" | "devices/pen/filters/force_gate" | "devices/pen/filters/force_gate/gain";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        error: null;
                        data: components["schemas"]["Setting"] | ({
                            warnings?: string[];
                            deprecation_warning?: string;
                        } & {
                            [key: string]: components["schemas"]["Setting"];
                        });
                        warnings?: string[];
                        deprecation_warning?: string;
                    } | (components["schemas"]["Setting"] | ({
                        warnings?: string[];
                        deprecation_warning?: string;
                    } & {
                        [key: string]: components["schemas"]["Setting"];
                    }));
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    post_settings_key: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path: {
                key: "communication/bind_address" | "communication/bind_all_interfaces" | "communication/http/port" | "communication/websocket/port" | "communication/websocket/legacy_port" | "communication/events/port" | "communication/allowed_origins" | "communication/allowed_hosts" | "communication/auth/required" | "communication/max_sessions" | "communication/streaming/native" | "communication/streaming/threads" | "communication/streaming/longest_turn" | "communication/stop_storage_wait" | "communication/local/enabled" | "communication/serial/enabled" | "communication/usb/enabled" | "filters/oscillation/enabled" | "filters/oscillation/power" | "filters/oscillation/votes" | "filters/oscillation/floor_gain" | "filters/oscillation/window" | "control/frequency" | "control/spin" | "control/realtime_priority" | "control/cpu" | "control/statistics_period" | "sessions/command_timeout" | "scene/timeout" | "devices/simulated" | "devices/auto_pairing" | "devices/grip/attach_debounce" | "devices/grip/detach_debounce" | "devices/settle_time" | "devices/haptic*/filters/force_scale/gain" | "devices/haptic*/filters/force_gate/gain" | "devices/detection/period" | "devices/detection/timeout" | "devices/detection/max_number_retry" | "devices/detection/block_on_loop" | "devices/detection/loop_threshold" | "devices/detection/loop_window" | "devices/detection/blocked_ports" | "devices/detection/serial_ports" | "devices/detection/advanced/allowed_vendor_id_filter" | "devices/detection/advanced/port_name_substring_filter" | "devices/falcon/firmware_image" | "devices/falcon/counts_per_Nm" | "devices/hapi/ports" | "serialization/vocabulary" | "serialization/explicit_fields" | "serialization/force_complete_transforms" | "serialization/status_safety" | "serialization/timestamps" | "features/grip_hook/enabled" | "features/grip_hook/timeout" | "features/screensaver/enabled" | "features/screensaver/timeout" | "features/safe_trajectory/enabled" | "features/safe_trajectory/max_vel" | "features/kinetic_energy_limit" | "features/power_limit" | "features/contact_energy_limit" | "features/stiffness_warning" | "features/brake_latch" | "features/stop_brake" | "features/enable_button" | "features/clutch/enabled" | "features/session_force_scale/enabled" | "features/workspace_zoom/enabled" | "features/hfx/enabled" | "features/contact/enabled" | "features/scene/enabled" | "features/modules/enabled" | "presets/freeform_profiles" | "simulation/settle_time" | "simulation/seed" | "simulation/stepped" | "misc/log_level" | "misc/log_format" | "misc/hidden_settings" | "devices/arm/filters/force_scale/gain" | "devices/compact/filters/force_scale/gain" | "devices/grip/filters/force_scale/gain" | "devices/pen/filters/force_scale/gain" | "devices/arm/filters/force_gate/gain" | "devices/compact/filters/force_gate/gain" | "devices/grip/filters/force_gate/gain" | "devices/pen/filters/force_gate/gain";
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": boolean | number | string | (string | number)[] | {
                    x: number;
                    y: number;
                    z: number;
                } | {
                    value: boolean | number | string | (string | number)[] | {
                        x: number;
                        y: number;
                        z: number;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        error: null;
                        data: components["schemas"]["Setting"];
                        warnings?: string[];
                        deprecation_warning?: string;
                    } | components["schemas"]["Setting"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
            507: components["responses"]["507"];
        };
    };
    delete_settings_key: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path: {
                key: "communication/bind_address" | "communication/bind_all_interfaces" | "communication/http/port" | "communication/websocket/port" | "communication/websocket/legacy_port" | "communication/events/port" | "communication/allowed_origins" | "communication/allowed_hosts" | "communication/auth/required" | "communication/max_sessions" | "communication/streaming/native" | "communication/streaming/threads" | "communication/streaming/longest_turn" | "communication/stop_storage_wait" | "communication/local/enabled" | "communication/serial/enabled" | "communication/usb/enabled" | "filters/oscillation/enabled" | "filters/oscillation/power" | "filters/oscillation/votes" | "filters/oscillation/floor_gain" | "filters/oscillation/window" | "control/frequency" | "control/spin" | "control/realtime_priority" | "control/cpu" | "control/statistics_period" | "sessions/command_timeout" | "scene/timeout" | "devices/simulated" | "devices/auto_pairing" | "devices/grip/attach_debounce" | "devices/grip/detach_debounce" | "devices/settle_time" | "devices/haptic*/filters/force_scale/gain" | "devices/haptic*/filters/force_gate/gain" | "devices/detection/period" | "devices/detection/timeout" | "devices/detection/max_number_retry" | "devices/detection/block_on_loop" | "devices/detection/loop_threshold" | "devices/detection/loop_window" | "devices/detection/blocked_ports" | "devices/detection/serial_ports" | "devices/detection/advanced/allowed_vendor_id_filter" | "devices/detection/advanced/port_name_substring_filter" | "devices/falcon/firmware_image" | "devices/falcon/counts_per_Nm" | "devices/hapi/ports" | "serialization/vocabulary" | "serialization/explicit_fields" | "serialization/force_complete_transforms" | "serialization/status_safety" | "serialization/timestamps" | "features/grip_hook/enabled" | "features/grip_hook/timeout" | "features/screensaver/enabled" | "features/screensaver/timeout" | "features/safe_trajectory/enabled" | "features/safe_trajectory/max_vel" | "features/kinetic_energy_limit" | "features/power_limit" | "features/contact_energy_limit" | "features/stiffness_warning" | "features/brake_latch" | "features/stop_brake" | "features/enable_button" | "features/clutch/enabled" | "features/session_force_scale/enabled" | "features/workspace_zoom/enabled" | "features/hfx/enabled" | "features/contact/enabled" | "features/scene/enabled" | "features/modules/enabled" | "presets/freeform_profiles" | "simulation/settle_time" | "simulation/seed" | "simulation/stepped" | "misc/log_level" | "misc/log_format" | "misc/hidden_settings" | "devices/arm/filters/force_scale/gain" | "devices/compact/filters/force_scale/gain" | "devices/grip/filters/force_scale/gain" | "devices/pen/filters/force_scale/gain" | "devices/arm/filters/force_gate/gain" | "devices/compact/filters/force_gate/gain" | "devices/grip/filters/force_gate/gain" | "devices/pen/filters/force_gate/gain";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        error: null;
                        data: components["schemas"]["Setting"];
                        warnings?: string[];
                        deprecation_warning?: string;
                    } | components["schemas"]["Setting"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
            507: components["responses"]["507"];
        };
    };
    get_ports: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        ports: components["schemas"]["Port"][];
                    } | {
                        /** @constant */
                        ok: true;
                        error: null;
                        data: {
                            ports: components["schemas"]["Port"][];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    get_sessions: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sessions"] | {
                        /** @constant */
                        ok: true;
                        error: null;
                        data: components["schemas"]["Sessions"];
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    get_readyz: {
        parameters: {
            query?: {
                /** @description `json` wraps the answer in the envelope, `plain` takes it off. */
                format?: "json" | "plain";
                /** @description Words of the answer; auto: neutral. */
                vocabulary?: "auto" | "neutral" | "inverse";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": "no-store";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ready";
                        interruptions?: {
                            device_id: string;
                            interrupted_s: number;
                            force_lost: number;
                            gaps: number;
                            longest_ms: number;
                            window_s: number;
                            cause: string;
                        }[];
                    } | {
                        /** @constant */
                        ok: true;
                        error: null;
                        /** @description With `interruptions` while devices lost force in the last minute because the control loop had gaps. */
                        data: {
                            /** @constant */
                            status: "ready";
                            interruptions?: {
                                device_id: string;
                                interrupted_s: number;
                                force_lost: number;
                                gaps: number;
                                longest_ms: number;
                                window_s: number;
                                cause: string;
                            }[];
                        };
                        warnings?: string[];
                        deprecation_warning?: string;
                    };
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            405: components["responses"]["405"];
            413: components["responses"]["413"];
            429: components["responses"]["429"];
            431: components["responses"]["431"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
}
