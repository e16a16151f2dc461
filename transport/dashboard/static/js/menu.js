// The menu of narrow windows, which opens below the bar; in wide ones it is always there.

import { signal } from "../vendor/ui.js";

export const menuOpen = signal(false);
