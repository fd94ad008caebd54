/** Days and times of sessions, as the server tells them: those of its own zone. */

const LONG = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });
const FULL = new Intl.DateTimeFormat("en", { dateStyle: "full", timeZone: "UTC" });
const CLIENTS = {
  opencode: "OpenCode", "claude-code": "Claude Code", codex: "Codex", gemini: "Gemini CLI",
  copilot: "GitHub Copilot CLI", pi: "pi", qwen: "Qwen Code", amp: "Amp", crush: "Crush",
  goose: "Goose", aider: "Aider", cursor: "Cursor", cline: "Cline", roo: "Roo Code",
  "claude-chat": "Claude chats", chatgpt: "ChatGPT",
};

export const clientName = (name) => CLIENTS[name] || name || "unknown";

/** `2026-11-21`, of a time or of now. */
export const dayOf = (time) => time.slice(0, 10);
export const clock = (time) => time.slice(11, 16);

/** Whether a time is only a day, as that of a note which says no more. */
export const isDay = (time) => time.slice(11, 19) === "00:00:00";

export function today(now = new Date()) {
  return new Date(now - now.getTimezoneOffset() * 60000).toISOString().slice(0, 10);
}

export function addDays(day, days) {
  const date = new Date(`${day}T00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

export const mondayOf = (day) => addDays(day, -((new Date(`${day}T00:00Z`).getUTCDay() + 6) % 7));

/** `Today`, `Yesterday`, `Friday, November 20`; with `full` always the date. The year where it is another one. */
export function dayName(day, now = today(), full = false) {
  if (!full && day === now) return "Today";
  if (!full && day === addDays(now, -1)) return "Yesterday";
  const date = new Date(`${day}T00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  return (full || day.slice(0, 4) !== now.slice(0, 4) ? FULL : LONG).format(date);
}
