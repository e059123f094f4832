// What would take the scene's page away, or fetch for it what is not the
// scene's: refused, and told of with the frame.

const NETWORK = "a scene has no network; put the file in its folder, name it in meta.assets, and write assets/NAME"

export function stay(shim) {
  // Who asked is told by a stack that ends in the scene, where there is one;
  // what is thrown in a listener of ours is thrown to nobody.
  const blame = (code, message) => {
    try {
      shim.blame(code, message)
    } catch {
      // late() has it
    }
  }
  const short = url => String(url).slice(0, 200)

  navigation.addEventListener("navigate", e => {
    if (e.hashChange) return // the page stays
    e.preventDefault()
    const where = e.navigationType === "reload" ? "itself again" : short(e.destination.url)
    blame("scene_unsupported", `the page was to load ${where}: a film is one page, and follows no links`)
  })
  for (const name of ["back", "forward", "go", "pushState", "replaceState"]) {
    Object.defineProperty(History.prototype, name, {
      value: () => shim.blame("scene_unsupported", `history.${name} is refused: a film is one page`),
    })
  }
  Object.defineProperty(Document.prototype, "open", {
    value: () => shim.blame("scene_unsupported", "document.open is refused: add elements to ctx.root"),
  })
  document.addEventListener("securitypolicyviolation", e => {
    if (!/^(https?|wss?|blob|data|file|ftp)/.test(e.blockedURI)) return // inline scripts do nothing, anywhere
    if (e.effectiveDirective === "font-src") blame("scene_font", `the font ${short(e.blockedURI)} is refused: the fonts in the library are there already; env.fonts lists them`)
    else blame("scene_network", `${short(e.blockedURI)} was asked for: ${NETWORK}`)
  })
}
