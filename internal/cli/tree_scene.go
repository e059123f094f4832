package cli

// The commands about scenes. What a scene is says docs/scene.md.

// sceneTree holds the commands below scene.
type sceneTree struct {
	Check     sceneCheckCmd     `cmd:"" effects:"none" failures:"none" help:"Try a scene: draw frames at random times twice, in another order, and say what is wrong with it, with file, line and column."`
	Preview   scenePreviewCmd   `cmd:"" effects:"none" failures:"none" help:"Show a scene on a local page with a scrubber that reloads when the scene is saved. Ends with Ctrl+C."`
	New       sceneNewCmd       `cmd:"" effects:"scene-made" failures:"none" help:"Begin a scene: a folder with a scene.js that draws something already."`
	Styles    sceneStylesCmd    `cmd:"" effects:"none" failures:"none" help:"List the styles, or tell all about one: palette, type, motion, and how to use it."`
	Libraries sceneLibrariesCmd `cmd:"" effects:"none" failures:"none" help:"List what a scene can import, with versions and licences."`
}

// sceneFlags are those of every command that draws.
type sceneFlags struct {
	Style        look     `placeholder:"NAME" otherwise:"the one that the scene names" help:"The style that the scene gets its palette and type from; scene styles lists them."`
	TimeoutFrame duration `placeholder:"TIME" default:"10s" min:"100ms" max:"10m" help:"How long a single frame may take before the scene is ended and the frame named."`
	Memory       size     `placeholder:"SIZE" min:"256MiB" max:"1TiB" otherwise:"4 GiB, or half of the machine's memory when that is less" help:"How much memory the scene's browser may take."`
}

type renderCmd struct {
	Scene   text     `arg:"" max:"4096" help:"The scene's file, such as scene.js."`
	Out     text     `short:"o" placeholder:"FILE" max:"4096" otherwise:"the scene's name with .mp4, in the working directory" help:"The film; its name ends in .mp4. A film that is there is replaced once the new one is verified."`
	Quality choice   `allowed:"draft,standard,high" default:"standard" help:"draft is the fastest, high can't be told from the frames."`
	Poster  text     `placeholder:"FILE" max:"4096" otherwise:"no poster" help:"A JPEG of the most telling frame; its name ends in .jpg or .jpeg."`
	Workers number   `placeholder:"N" min:"1" max:"64" otherwise:"as many as processors, and fewer when memory is short" help:"How many frames are drawn side by side. The film's bytes don't depend on it."`
	Timeout duration `placeholder:"TIME" default:"30m" min:"1s" max:"24h" help:"How long all of it may take. What is finished by then is kept, and the same command goes on there."`
	sceneFlags
}

type stillCmd struct {
	Scene text    `arg:"" max:"4096" help:"The scene's file, such as scene.js."`
	At    moments `required:"" placeholder:"SECONDS" min:"0" max:"600" help:"The time of the frame, in seconds; several with commas between: 0.5,2,3.5."`
	Out   text    `short:"o" placeholder:"PATH" default:"stills" max:"4096" help:"A file that ends in .png or .jpg, or a folder for files that are named after the frame; a new folder's name ends in / where it has an ending."`
	sceneFlags
}

type sheetCmd struct {
	Scene   text   `arg:"" max:"4096" help:"The scene's file, such as scene.js."`
	Out     text   `short:"o" placeholder:"FILE" max:"4096" otherwise:"the scene's name with -sheet.png, in the working directory" help:"The picture; it ends in .png or .jpg."`
	Columns number `placeholder:"N" default:"4" min:"1" max:"12" help:"Frames beside each other."`
	Rows    number `placeholder:"N" default:"3" min:"1" max:"12" help:"Frames below each other."`
	sceneFlags
}

type sceneCheckCmd struct {
	Scene  text   `arg:"" max:"4096" help:"The scene's file, such as scene.js."`
	Frames number `placeholder:"N" default:"12" min:"2" max:"120" help:"How many frames are drawn twice; the first and the last are among them."`
	sceneFlags
}

type scenePreviewCmd struct {
	Scene text   `arg:"" max:"4096" help:"The scene's file, such as scene.js."`
	Port  number `placeholder:"N" min:"1024" max:"65535" otherwise:"a free one" help:"The port on 127.0.0.1."`
	sceneFlags
}

type sceneNewCmd struct {
	Name  label  `arg:"" max:"100" help:"The folder to make, in the working directory."`
	Style look   `placeholder:"NAME" default:"midnight" help:"The style that it begins with; scene styles lists them."`
	Kind  choice `allowed:"2d,webgl,dom" default:"2d" help:"What it draws on: a 2D canvas, WebGL with three.js, or HTML and SVG."`
}

type sceneStylesCmd struct {
	Name look `arg:"" optional:"" otherwise:"all, in short" help:"The style."`
}

type sceneLibrariesCmd struct{}
