// What a page that draws a scene of kind dom must know of its elements before a
// frame is taken: what the browser would otherwise show without a word, or too
// late. Only what changed since the frame before is looked at.

const { freeze } = Object
const method = (type, name) => Function.prototype.call.bind(type.prototype[name])
const getter = (type, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(type.prototype, name).get)
const styleOf = globalThis.getComputedStyle.bind(globalThis)
const property = method(CSSStyleDeclaration, "getPropertyValue")
const take = method(MutationObserver, "takeRecords")
const allOf = method(Element, "getElementsByTagName")
const sourceOf = getter(HTMLImageElement, "currentSrc"), decodeImage = method(HTMLImageElement, "decode")

const below_ = { element: method(Element, "querySelectorAll"), shadow: method(DocumentFragment, "querySelectorAll") }
const { ImageDecoder } = globalThis
const bytesOf = atob

// refuseMoving refuses a picture that moves by the real clock.
export async function refuseMoving(who, data, type, SceneError) {
  if (!/^image\/(gif|webp|a?png|avif)/.test(type ?? "") || !ImageDecoder) return
  const d = new ImageDecoder({ data, type: type.replace("apng", "png") })
  await d.tracks.ready.catch(() => {}) // what can't be decoded fails later
  const moves = d.tracks.selectedTrack?.animated
  d.close()
  if (moves) throw new SceneError("scene_unsupported", `${who} is an animated picture, which moves by the real clock: give its pictures one by one`)
}

// The properties that may name a picture.
const PICTURED = freeze(["background-image", "mask-image", "border-image-source", "list-style-image", "content"])

export function watchFor(root, shim) {
  const { SceneError } = shim
  const observer = new MutationObserver(() => {})
  const all = { subtree: true, childList: true, characterData: true, attributes: true }
  observer.observe(document.documentElement, all)
  const shadows = new Map() // hosts to their shadow roots
  const attach = Element.prototype.attachShadow
  Object.defineProperty(Element.prototype, "attachShadow", {
    value: function attachShadow(how) {
      const s = attach.call(this, how)
      shadows.set(this, s)
      observer.observe(s, all)
      return s
    },
  })
  // inside tells whether a node is in the root, or in a shadow tree in it.
  const inside = n => {
    while (n && !root.contains(n)) n = n.getRootNode().host
    return Boolean(n)
  }
  const scopes = () => [document, ...[...shadows].filter(([host]) => inside(host)).map(([, s]) => s)]
  const moving = ["animate", "animateTransform", "animateMotion", "set"].map(name => allOf(root, name))
  const families = new Set(), ready = new Map() // addresses to pictures that are kept
  let sheets = 0, everything = true, slow = ""

  const fail = (code, message) => {
    throw new SceneError(code, message)
  }
  const called = e => `<${e.localName}${e.id ? ` id="${e.id}"` : ""}${typeof e.className === "string" && e.className ? ` class="${e.className}"` : ""}>`

  const here = `${location.origin}/`
  // local gives an address that is the scene's own, and refuses others.
  function local(address, who) {
    const { href } = new URL(address, document.baseURI)
    if (!href.startsWith(here) && !href.startsWith("data:")) {
      fail("scene_network", `${who} asks for ${href.slice(0, 200)}: a scene has no network; put the file in its folder, name it in meta.assets, and write assets/NAME`)
    }
    return href
  }

  // still refuses animated pictures that stand in their address.
  const still = async (url, who) => {
    const [, head, body] = /^data:(image\/[^,]*),(.*)$/is.exec(url) ?? []
    if (!head || /svg/i.test(head)) return
    const text = unescape(body)
    await refuseMoving(who, Uint8Array.from(/;base64$/i.test(head) ? bytesOf(text) : text, c => c.charCodeAt(0)), head.split(";")[0].toLowerCase(), SceneError)
  }

  // picture gives a promise when the picture is not there yet.
  function picture(url, who) {
    if (ready.has(url)) return ready.get(url) === true ? undefined : ready.get(url)
    const image = new Image()
    image.src = url
    const p = decodeImage(image).then(
      async () => {
        await still(url, who)
        ready.set(url, true)
        kept.push(image)
      },
      () => fail("scene_asset", `${who} shows ${url.slice(0, 200)}, which can't be had: name its file in meta.assets and write assets/NAME`),
    )
    p.catch(() => {}) // who waits for it hears of it
    ready.set(url, p)
    return p
  }
  const kept = [] // so that the browser keeps them decoded, and at hand

  // shown gives a promise of an <img>'s picture.
  function shown(e) {
    if (e.src) local(e.src, called(e))
    const p = decodeImage(e).then(
      () => still(sourceOf(e), called(e)),
      () => {
        const url = local(sourceOf(e) || e.src, called(e))
        fail("scene_asset", `${called(e)} shows ${url.slice(0, 200)}, which can't be had: name its file in meta.assets and write src="assets/NAME"`)
      },
    )
    p.catch(() => {})
    return p
  }

  // addresses gives those of a style's value or rule.
  const addresses = function* (text) {
    if (!text.includes("url(")) return
    for (const [, url] of text.matchAll(/url\("((?:[^"\\]|\\.)*)"\)/g)) {
      if (!url.startsWith("#") && !/^[^#]*\/page\.html#/.test(url)) yield url.replace(/\\(.)/g, "$1")
    }
  }

  const rulesOf = s => {
    try {
      return s.cssRules
    } catch {
      return [] // of a file's, which is refused by its <link>
    }
  }

  // sheet looks at the rules of a style sheet: they may be for what no element
  // shows by itself, ::before and its kind.
  function sheet(s, waiting) {
    for (const rule of rulesOf(s)) {
      const text = rule.cssText
      if (rule instanceof CSSImportRule) {
        local(rule.href, "@import")
        fail("scene_unsupported", `@import of ${rule.href.slice(0, 200)} is refused: import the file's text, import css from "./style.css", and put it in a <style>`)
      }
      if (rule instanceof CSSFontFaceRule) fail("scene_font", "@font-face is refused: the fonts in the library are there already; env.fonts lists them")
      if (rule instanceof CSSNamespaceRule) continue
      shim.checkText(text)
      for (const url of addresses(text)) waiting.push(picture(local(url, "a style"), "a style"))
    }
  }
  const sheetsOf = scope => [...scope.styleSheets, ...scope.adoptedStyleSheets]

  function element(e, waiting) {
    switch (e.localName) {
      case "canvas":
        slow ||= "there is a <canvas> among the elements"
        break
      case "marquee":
        fail("scene_unsupported", "<marquee> is refused: it moves by the real clock; animate transform")
        break
      case "progress":
        if (e.position < 0) fail("scene_unsupported", "<progress> without a value is refused: it moves by the real clock")
        break
      case "img":
        e.loading = "eager"
        if (e.src || e.srcset) waiting.push(shown(e))
        break
      case "image":
      case "feImage":
      case "use":
        if (e.href?.baseVal && !e.href.baseVal.startsWith("#")) {
          const url = local(e.href.baseVal, called(e))
          if (e.localName !== "use") waiting.push(picture(url, called(e)))
        }
        break
      case "input":
        if (e.type === "image" && e.src) waiting.push(picture(local(e.src, called(e)), called(e)))
        break
      case "link":
        if (e.getAttribute("href")) {
          local(e.href, called(e))
          fail("scene_unsupported", `${called(e)} is refused: import the file's text, import css from "./style.css", and put it in a <style>`)
        }
        break
    }
    const style = styleOf(e)
    if (property(style, "transform-style") === "preserve-3d") slow ||= `${called(e)} has transform-style: preserve-3d`
    if (property(style, "backface-visibility") === "hidden") slow ||= `${called(e)} has backface-visibility: hidden`
    const family = property(style, "font-family")
    if (!families.has(family)) {
      shim.checkFamilies(family.split(",").map(f => f.trim().replace(/^["']|["']$/g, "")), family)
      families.add(family)
    }
    for (const name of PICTURED) {
      for (const url of addresses(property(style, name))) waiting.push(picture(local(url, called(e)), called(e)))
    }
  }

  // gather says which elements and texts changed.
  function gather() {
    const elements = new Set(), texts = new Set()
    const below = (e, self) => {
      if (self) elements.add(e)
      const inIt = e.nodeType === 1 ? allOf(e, "*") : below_.shadow(e, "*")
      for (const c of inIt) elements.add(c)
      if (shadows.size === 0) return
      for (const c of e.nodeType === 1 ? [e, ...inIt] : inIt) if (shadows.has(c)) below(shadows.get(c), false)
    }
    const written = n => {
      if (n.nodeType === 3) return texts.add(n)
      if (n.nodeType === 1 && shadows.has(n)) written(shadows.get(n))
      for (const c of n.childNodes) written(c)
    }
    for (const r of take(observer)) {
      const t = r.target
      if (t.localName === "style" || t.parentNode?.localName === "style") everything = true
      if (r.type === "characterData") texts.add(t)
      if (r.type === "attributes") {
        if (r.attributeName === "style") elements.add(t)
        else below(t, true)
      }
      for (const n of r.addedNodes) {
        written(n)
        if (n.nodeType === 1) below(n, true)
        if (n.localName === "style" || n.localName === "link") everything = true
      }
    }
    let n = 0
    for (const scope of scopes()) {
      for (const s of scope.styleSheets) n += 1 + rulesOf(s).length
      for (const s of scope.adoptedStyleSheets) n += 1 + rulesOf(s).length
    }
    if (n !== sheets) {
      sheets = n
      everything = true
    }
    const whole = everything
    if (whole) {
      below(root, true)
      written(root)
    }
    everything = false
    return { elements, texts, whole }
  }

  // look checks what changed. slow is why the page can't be painted from a
  // record, pictures a promise when one must be waited for.
  function look() {
    try {
      return examine()
    } catch (e) {
      everything = true // it is no better in the next frame
      throw e
    }
  }

  function examine() {
    if (document.body.childElementCount !== 1) fail("scene_unsupported", "an element was put into document.body: only what is in ctx.root is in the film")
    const { elements, texts, whole } = gather(), waiting = []
    if (elements.size > 0) {
      shim.checkElements(root)
      for (const s of scopes().slice(1)) shim.checkElements(s)
    }
    if (whole) for (const scope of scopes()) for (const s of sheetsOf(scope)) sheet(s, waiting)
    for (const e of elements) if (inside(e)) element(e, waiting)
    for (const t of texts) {
      const in_ = t.parentNode?.localName
      if (in_ !== "style" && inside(t)) shim.checkText(t.data)
    }
    const late = waiting.filter(Boolean)
    if (late.length === 0) return { slow }
    const pictures = Promise.all(late)
    pictures.catch(() => { everything = true })
    return { slow, pictures }
  }

  return freeze({
    look,
    // again has the next look see everything, whatever was seen before.
    again: () => { everything = true },
    scopes,
    // keep loads the pictures among the assets, under both of their names.
    keep: assets => Promise.all(assets.filter(([, file]) => /\.(png|jpe?g|webp|gif|avif|svg)$/i.test(file))
      .flatMap(([name, file]) => [`assets/${name}`, file]).map(p => picture(new URL(p, document.baseURI).href, "an asset"))),
    // svgs are those that move by themselves.
    svgs: () => moving.some(l => l.length > 0) ? [...below_.element(root, "svg")].filter(s => !s.ownerSVGElement) : [],
  })
}
