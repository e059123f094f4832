package cli

// The commands about films that an agent makes of a prompt. What happens to a
// prompt says docs/generate.md.

type generateCmd struct {
	Prompt      text    `arg:"" max:"2000" help:"What the film shows, in 3 to 2,000 characters, as one quoted argument; - reads it from standard input, where it may have several lines."`
	Seconds     number  `placeholder:"N" default:"15" min:"5" max:"60" help:"The film's length."`
	Style       look    `placeholder:"NAME" otherwise:"the author's choice" help:"The look; scene styles lists them."`
	Aspect      choice  `allowed:"16:9,9:16,1:1" default:"16:9" help:"1920x1080, 1080x1920 or 1080x1080 pixels."`
	Out         text    `short:"o" placeholder:"FILE" default:"film.mp4" max:"4096" help:"The film, in a folder that is there. Its poster lies beside it, as .jpg. A film that is there is replaced, with its poster, once the new one is verified; a picture without a film is not."`
	Tier        choice  `allowed:"standard,pro" default:"standard" help:"How much the author may use: its model, its turns, its time."`
	Model       text    `placeholder:"NAME" max:"200" otherwise:"the tier's" help:"The author's model, by its exact name."`
	Upstream    server  `placeholder:"URL" max:"2048" otherwise:"the provider's, when there is a key; else the template author of this program, which is no model" help:"A server that speaks the Messages API, such as a local model's: http or https, without user, query and fragment. Needs --model, which then screens the prompt too."`
	KeyFile     text    `placeholder:"FILE" max:"4096" otherwise:"ANTHROPIC_API_KEY, or with --upstream PROOFREEL_UPSTREAM_KEY" help:"A file that holds the key of the model's API. The key never enters the box."`
	Budget      dollars `placeholder:"USD" min:"0" max:"1000" otherwise:"the tier's" help:"What the author may cost. 0 says that the server of --upstream costs nothing."`
	Box         choice  `allowed:"gvisor,bwrap" otherwise:"the one that setup chose" help:"Another box for this once; it is probed first."`
	Exit        choice  `allowed:"reencode,remux" default:"reencode" help:"reencode lets nothing leave that the author has written; remux keeps its pictures as they were encoded, and is quicker."`
	InsecureDev toggle  `name:"insecure-dev" help:"No box: the author may do on this machine whatever you may. For developing Proofreel itself."`
}

type setupCmd struct {
	Box choice `allowed:"gvisor,bwrap" otherwise:"gvisor where its probe passes, else bwrap" help:"The box to set up."`
}
