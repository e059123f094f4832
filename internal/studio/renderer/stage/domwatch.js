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

// The properties that may name a picture.
const PICTURED = freeze(["background-image", "mask-image", "border-image-source", "list-style-image", "content"])

export function watchFor(root, shim) {
  const { SceneError } = shim
  const observer = new MutationObserver(() => {})
  observer.observe(document.documentElement, { subtree: true, childList: true, characterData: true, attributes: true })
  const moving = ["animate", "animateTransform", "animateMotion", "set"].map(name => allOf(root, name))
  const families = new Set(), ready = new Map() // addresses to pictures that are kept
  let sheets = 0, everything = true, slow = ""

  const fail = (code, message) => {
    throw new SceneError(code, message)
  }
  const called = e => `<${e.localName}${e.id ? ` id="${e.id}"` : ""}${typeof e.className === "string" && e.className ? ` class="${e.className}"` : ""}>`

  // picture gives a promise when the picture is not there yet.
  function picture(url, who) {
    if (ready.has(url)) return ready.get(url) === true ? undefined : ready.get(url)
    const image = new Image()
    image.src = url
    const p = decodeImage(image).then(
      () => {
        ready.set(url, true)
        kept.push(image)
      },
      () => fail("scene_asset", `${who} shows ${url.slice(0, 200)}, which can't be had: name its file in meta.assets and write assets/NAME`),
    )
    ready.set(url, p)
    return p
  }
  const kept = [] // so that the browser keeps them decoded, and at hand

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
        if (e.src || e.srcset) waiting.push(decodeImage(e).catch(() => fail("scene_asset", `${called(e)} shows ${(sourceOf(e) || e.src).slice(0, 200)}, which can't be had: name its file in meta.assets and write src="assets/NAME"`)))
        break
      case "image":
        if (e.href?.baseVal) waiting.push(picture(new URL(e.href.baseVal, document.baseURI).href, called(e)))
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
      const value = property(style, name)
      if (!value.includes("url(")) continue
      for (const [, url] of value.matchAll(/url\("((?:[^"\\]|\\.)*)"\)/g)) {
        if (!url.startsWith("#") && !/^[^#]*\/page\.html#/.test(url)) waiting.push(picture(url.replace(/\\(.)/g, "$1"), called(e)))
      }
    }
  }

  // gather says which elements and texts changed.
  function gather() {
    const elements = new Set(), texts = new Set()
    const below = (e, self) => {
      if (self) elements.add(e)
      for (const c of allOf(e, "*")) elements.add(c)
    }
    const written = n => {
      if (n.nodeType === 3) texts.add(n)
      else if (n.nodeType === 1) for (const c of n.childNodes) written(c)
    }
    for (const r of take(observer)) {
      const t = r.target
      if (t.localName === "style" || t.parentNode?.localName === "style") everything = true
      if (r.type === "characterData") texts.add(t)
      if (r.type === "attributes") {
        if (r.attributeName === "style") elements.add(t)
        else if (t.nodeType === 1) below(t, true)
      }
      for (const n of r.addedNodes) {
        written(n)
        if (n.nodeType === 1) below(n, true)
        if (n.localName === "style" || n.localName === "link") everything = true
      }
    }
    if (document.styleSheets.length + document.adoptedStyleSheets.length !== sheets) {
      sheets = document.styleSheets.length + document.adoptedStyleSheets.length
      everything = true
    }
    if (everything) {
      below(root, true)
      written(root)
    }
    everything = false
    return { elements, texts }
  }

  // look checks what changed. slow is why the page can't be painted from a
  // record, pictures a promise when one must be waited for.
  function look() {
    if (document.body.childElementCount !== 1) fail("scene_unsupported", "an element was put into document.body: only what is in ctx.root is in the film")
    const { elements, texts } = gather(), waiting = []
    if (elements.size > 0) shim.checkElements(root)
    for (const e of elements) if (root.contains(e)) element(e, waiting)
    for (const t of texts) {
      const in_ = t.parentNode?.localName
      if (in_ && in_ !== "style" && root.contains(t)) shim.checkText(t.data)
    }
    const late = waiting.filter(Boolean)
    return { slow, pictures: late.length > 0 ? Promise.all(late) : undefined }
  }

  return freeze({
    look,
    // keep loads the pictures among the assets, under both of their names.
    keep: assets => Promise.all(assets.filter(([, file]) => /\.(png|jpe?g|webp|gif|avif|svg)$/i.test(file))
      .flatMap(([name, file]) => [`assets/${name}`, file]).map(p => picture(new URL(p, document.baseURI).href, "an asset"))),
    // svgs are those that move by themselves.
    svgs: () => moving.some(l => l.length > 0) ? [...root.querySelectorAll("svg")].filter(s => !s.ownerSVGElement) : [],
  })
}
