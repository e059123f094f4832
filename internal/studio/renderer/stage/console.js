// What a scene writes to its console becomes notes for its author: nobody
// looks at the browser's.

const { stringify } = JSON
const most = 100 // lines that are kept

function show(v) {
  try {
    if (typeof v === "string") return v
    if (v instanceof Error) return `${v.name}: ${v.message}`
    return (typeof v === "object" && v !== null && stringify(v)) || String(v)
  } catch {
    return `[${typeof v}]`
  }
}

// listen gives a function that empties the list of notes. frame tells which
// frame is being drawn. The same line is noted once.
export function listen(frame) {
  let lines = []
  const seen = new Set()
  for (const level of ["log", "info", "debug", "warn", "error"]) {
    console[level] = (...args) => {
      const text = `console.${level}: ${args.map(show).join(" ")}`.slice(0, 500)
      if (seen.size >= most || seen.has(text)) return
      seen.add(text)
      lines.push({ code: "console", text, frame: frame(), stack: new Error("").stack })
    }
  }
  return () => {
    const all = lines
    lines = []
    return all
  }
}
