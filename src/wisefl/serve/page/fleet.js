// A fleet in columns, as the service and its CSV file have it.
let counter = 0;

/** `id` names this very content: two fleets with the same id are the same. */
export function make(columns, more = {}) {
  const names = columns.client ?? [];
  const counts = Object.keys(columns).filter((name) => /^count_\d+$/.test(name));
  const samples = names.map((_, at) => counts.reduce((sum, name) => sum + Number(columns[name][at]), 0));
  return { id: ++counter, columns, size: names.length, counts, samples, total: samples.reduce((a, b) => a + b, 0), divergence: null, random: null, name: "fleet.csv", text: null, ...more };
}
export const fromService = (told, more) => make(told.columns, { divergence: told.divergence.map((value) => value ?? Infinity), ...more });

/** Text as it is pasted: commas, semicolons or tabs, whichever the header has. */
export function fleetOf(text, name = "fleet.csv") {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/).filter((line) => line.trim());
  const mark = ["\t", ";", ","].find((one) => (lines[0] ?? "").includes(one)) ?? ",";
  const header = cells(lines[0] ?? "", mark);
  const columns = Object.fromEntries(header.map((column) => [column, []]));
  for (const line of lines.slice(1)) {
    const row = cells(line, mark);
    header.forEach((column, at) => columns[column].push(row[at] ?? ""));
  }
  // The text goes to the service as it came, so that mistakes are told by row and column.
  const plain = mark === "," ? text : [header, ...lines.slice(1).map((line) => cells(line, mark))].map((row) => row.map(quoted).join(",")).join("\n");
  return make(columns, { name, text: plain });
}
function cells(line, mark) {
  if (!line.includes('"')) return line.split(mark).map((cell) => cell.trim());
  const found = [];
  let cell = "", inside = false;
  for (const letter of line) {
    if (letter === '"') inside = !inside;
    else if (letter === mark && !inside) { found.push(cell.trim()); cell = ""; }
    else cell += letter;
  }
  return [...found, cell.trim()];
}
const quoted = (cell) => (/[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell ?? ""));

export function csvOf(fleet) {
  if (fleet.text === null) {
    const names = Object.keys(fleet.columns), columns = Object.values(fleet.columns);
    const rows = fleet.columns.client.map((_, at) => columns.map((column) => quoted(column[at] ?? "")).join(","));
    fleet.text = `${names.map(quoted).join(",")}\n${rows.join("\n")}\n`;
  }
  return fleet.text;
}

/** The same fleet with another value in one cell. */
export function edited(fleet, row, column, value) {
  const before = fleet.columns[column] ?? fleet.columns.client.map(() => "");
  const changed = before.slice();
  changed[row] = value;
  return make({ ...fleet.columns, [column]: changed }, { divergence: column.startsWith("count_") ? null : fleet.divergence, name: fleet.name });
}
