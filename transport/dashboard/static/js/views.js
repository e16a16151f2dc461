// The views in the order of the menu. The address after `#` names the view, so that a link and the back button work.

import { batch, signal } from "../vendor/ui.js";
import { CalibrationView } from "./views/calibration.js";
import { DeviceView } from "./views/device.js";
import { DevicesView } from "./views/devices.js";
import { EventsView } from "./views/events.js";
import { LogView } from "./views/log.js";
import { OverviewView } from "./views/overview.js";
import { PlotsView } from "./views/plots.js";
import { PortsView } from "./views/ports.js";
import { ProblemsView } from "./views/problems.js";
import { SessionsView } from "./views/sessions.js";
import { SettingsView } from "./views/settings.js";
import { SimulationView } from "./views/simulation.js";
import { SpaceView } from "./views/space.js";
import { TouchView } from "./views/touch.js";

export const VIEWS = [
  { name: "overview", title: "Overview", view: OverviewView },
  { name: "devices", title: "Devices", view: DevicesView },
  { name: "space", title: "3D view", view: SpaceView },
  { name: "plots", title: "Plots", view: PlotsView },
  { name: "touch", title: "First touch", view: TouchView },
  { name: "simulation", title: "Simulated hand", view: SimulationView },
  { name: "problems", title: "Problems", view: ProblemsView },
  { name: "events", title: "Events", view: EventsView },
  { name: "sessions", title: "Sessions", view: SessionsView },
  { name: "ports", title: "Ports", view: PortsView },
  { name: "log", title: "Log", view: LogView },
  { name: "settings", title: "Settings", view: SettingsView },
  { name: "calibration", title: "Pairs and calibration", view: CalibrationView },
];

/** Reached from others, not from the menu; the address has an argument: `#device/46C6`. */
const OTHERS = [{ name: "device", title: "Device", view: DeviceView, menu: "devices" }];

export const view = signal(named());
/** What stands after the name of the view in the address, "" without it. */
export const argument = signal(argued());

export function viewTitle(name) {
  return VIEWS.find((one) => one.name === name)?.title ?? name;
}

export function show(name) {
  location.hash = name;
}

/** A view that has something to lose asks here before it is left: an async function, true to leave. */
export const mayLeave = { current: null };
let here = location.hash;

export function beginViews() {
  addEventListener("hashchange", async () => {
    const wanted = location.hash;
    if (mayLeave.current !== null && wanted !== here) {
      history.replaceState(null, "", here || "#");
      if (!(await mayLeave.current())) return;
      history.replaceState(null, "", wanted);
    }
    here = location.hash;
    batch(() => {
      view.value = named();
      argument.value = argued();
    });
    scrollTo(0, 0);
    document.getElementById("view-title")?.focus({ preventScroll: true });
  });
}

function named() {
  const [name] = location.hash.slice(1).split("/");
  return [...VIEWS, ...OTHERS].find((one) => one.name === name) ?? VIEWS[0];
}

function argued() {
  try {
    return decodeURIComponent(location.hash.split("/")[1] ?? "");
  } catch {
    return "";
  }
}
