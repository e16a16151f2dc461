export { h, render, Component, Fragment, createRef } from "preact";
export { useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback } from "preact/hooks";
export { signal, computed, effect, batch, untracked } from "@preact/signals";
import { h } from "preact";
import htm from "htm";
export const html = htm.bind(h);
