// The views in the order of the menu. The address after `#` names the view, so that a link and the back button work.

import { signal } from "../vendor/ui.js";
import { CalibrationView } from "./views/calibration.js";
import { DevicesView } from "./views/devices.js";
import { EventsView } from "./views/events.js";
import { PlotsView } from "./views/plots.js";
import { PortsView } from "./views/ports.js";
import { SessionsView } from "./views/sessions.js";
import { SettingsView } from "./views/settings.js";
import { SimulationView } from "./views/simulation.js";
import { SpaceView } from "./views/space.js";
import { TouchView } from "./views/touch.js";

export const VIEWS = [
  { name: "devices", title: "Devices", view: DevicesView },
  { name: "space", title: "3D view", view: SpaceView },
  { name: "plots", title: "Plots", view: PlotsView },
  { name: "touch", title: "First touch", view: TouchView },
  { name: "simulation", title: "Simulated hand", view: SimulationView },
  { name: "ports", title: "Ports", view: PortsView },
  { name: "sessions", title: "Sessions", view: SessionsView },
  { name: "events", title: "Events", view: EventsView },
  { name: "settings", title: "Settings", view: SettingsView },
  { name: "calibration", title: "Pairs and calibration", view: CalibrationView },
];

export const view = signal(named());

export function show(name) {
  location.hash = name;
}

export function beginViews() {
  addEventListener("hashchange", () => {
    view.value = named();
    document.getElementById("view-title")?.focus();
  });
}

function named() {
  return VIEWS.find((one) => `#${one.name}` === location.hash) ?? VIEWS[0];
}
