// Rules of the log view without the page: which lines are known, which are shown.

export const LEVELS = ["debug", "info", "warning", "error", "critical"];
const TONES = { debug: "off", info: "off", warning: "warn", error: "bad", critical: "bad" };
/** Members of a line that are shown behind its message, in this order. */
export const FIELDS = ["event", "session", "device", "client", "port", "actor"];
export const MOST_LINES = 2000;

export const toneOf = (line) => TONES[line.level] ?? "off";

/** The number to ask behind: one line that is known comes again, so that a restarted service is noticed. */
export const askedAfter = (known) => Math.max(0, (known[0]?.number ?? 0) - 1);

/**
 * The lines, newest first, with those of an answer (oldest first) added. null: the service has started again since, so that its numbers
 * mean other lines; ask for everything.
 */
export function merged(known, answer) {
  const last = known[0];
  if (last === undefined) return answer.lines.toReversed().slice(0, MOST_LINES);
  const again = answer.lines.find((line) => line.number === last.number);
  if (answer.newest < last.number || (again !== undefined && again.time !== last.time)) return null;
  const added = answer.lines.filter((line) => line.number > last.number);
  return added.length === 0 ? known : [...added.reverse(), ...known].slice(0, MOST_LINES);
}

/** Whether a line is of the level or a worse one and holds the text, in any case. */
export function fits(line, level, text) {
  const wanted = text.trim().toLowerCase();
  return LEVELS.indexOf(line.level) >= LEVELS.indexOf(level) && (wanted === "" || searched(line).includes(wanted));
}

function searched(line) {
  const fields = FIELDS.map((name) => line[name] ?? "").join(" ");
  return `${line.kind} ${line.message} ${fields} ${line.traceback ?? ""}`.toLowerCase();
}
