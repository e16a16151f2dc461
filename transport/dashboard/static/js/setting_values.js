// Values of settings as text in a field, and back; what is wrong with a text is said in a sentence.

/** Text of a value for its field. */
export function asText(record) {
  const { value } = record;
  if (value === null) return "";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** What a setting takes, in words. */
export function takes({ type_hint: type, unit, metadata }) {
  const { range, choices, nullable } = metadata.constraint;
  const words = [];
  if (type === "BOOL") words.push("true or false");
  if (choices) words.push(`${type === "ARR_STRING" ? "a list of" : "one of"} ${choices.join(", ")}`);
  else if (type === "ARR_STRING") words.push("a list, with commas");
  if (range) words.push(`${type === "INT" ? "a whole number" : "a number"} from ${range.min} to ${range.max}${unit ? ` ${unit}` : ""}`);
  if (nullable) words.push("or nothing");
  return words.join(" ");
}

/** {value} of a text, or {error} with a sentence. */
export function parse(record, text) {
  const { type_hint: type, metadata } = record;
  const { range, choices, nullable } = metadata.constraint;
  const trimmed = text.trim();
  if (trimmed === "" && nullable) return { value: null };
  if (type === "BOOL") return { value: trimmed === "true" };
  if (type === "ARR_STRING") return { value: trimmed === "" ? [] : trimmed.split(",").map((part) => part.trim()) };
  if (choices?.includes(trimmed)) return { value: trimmed };
  if (type === "INT" || type === "FLOAT" || range) return number(record, trimmed);
  return { value: trimmed };
}

function number(record, text) {
  const value = Number(text);
  const { range } = record.metadata.constraint;
  const wrong =
    text === "" ||
    !Number.isFinite(value) ||
    (record.type_hint === "INT" && !Number.isInteger(value)) ||
    (range && (value < range.min || value > range.max));
  return wrong ? { error: `${record.key}: give ${takes(record)}, not ${text === "" ? "nothing" : text}.` } : { value };
}
