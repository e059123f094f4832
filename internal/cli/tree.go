package cli

// tree is the command tree. Its tags are the one source of the parser, the
// manifest, both helps and docs/cli.md. Besides kong's own tags:
//
//	effects   what a success may change (fault.Effect), comma-separated
//	failures  what a failure may have changed
//	allowed   the values of a choice
//	min, max  the range of a number, a duration, a size, or a text's length
//	otherwise the default in words, where it depends on something
//	fromenv   the environment variable that gives the value when the flag is absent
type tree struct {
	Help    toggle `short:"h" help:"Say what the program or a command can do, and do nothing else."`
	Version toggle `help:"Print the version, and do nothing else."`
	Output  choice `allowed:"auto,json,text" default:"auto" fromenv:"PROOFREEL_OUTPUT" help:"How answers are printed: json for programs, text for people; auto is text when stdout is a terminal."`

	Start     startCmd     `cmd:"" effects:"recording-started" failures:"none,start-uncertain" help:"Start a recording; returns once the first frame is captured."`
	Step      stepCmd      `cmd:"" effects:"event-recorded" failures:"none" help:"Note what is about to be done, at this moment of the recording."`
	Result    resultCmd    `cmd:"" effects:"event-recorded" failures:"none" help:"Note how the step before it ended."`
	Status    statusCmd    `cmd:"" effects:"none" failures:"none" help:"Say how a recording does; changes nothing."`
	Stop      stopCmd      `cmd:"" effects:"proof-saved,proof-published" failures:"none,finalize-partial,proof-saved" help:"End a recording: verify the film, publish it, clean up. Doing it again gives the same answer."`
	Clip      clipCmd      `cmd:"" effects:"clip-made" failures:"none" help:"Make a clip of a recording that has ended: captions, cuts, a page and a contact sheet. The recording stays as it is, so another can be made at any time."`
	Render    renderCmd    `cmd:"" effects:"film-rendered" failures:"none" help:"Make a film of a scene: H.264 in MP4, verified. The same command goes on where an interrupted one was."`
	Still     stillCmd     `cmd:"" effects:"pictures-made" failures:"none" help:"Draw single frames of a scene; their pixels are those that the film is made of."`
	Sheet     sheetCmd     `cmd:"" effects:"pictures-made" failures:"none" help:"Draw a contact sheet of a scene: frames at even distances, with their times."`
	Generate  generateCmd  `cmd:"" effects:"film-rendered" failures:"none,film-rendered" help:"Make a film of a prompt: an author in a locked box writes a scene, looks at it and renders it; nothing but the film and its poster leaves the box."`
	Setup     setupCmd     `cmd:"" effects:"box-chosen" failures:"none" help:"Once on a new machine, before generate: try the boxes that there are, choose one and write it down."`
	Scene     sceneTree    `cmd:"" help:"Work on scenes: check, preview and begin them."`
	Watch     watchCmd     `cmd:"" effects:"none" failures:"none" help:"Follow a recording until it has ended; answers with its last status."`
	List      listCmd      `cmd:"" effects:"none" failures:"none" help:"List every recording on this machine, newest first."`
	Recover   recoverCmd   `cmd:"" effects:"proof-saved,proof-published" failures:"none,finalize-partial,proof-saved" help:"Do what stop does for a recording whose supervisor died."`
	Discard   discardCmd   `cmd:"" effects:"none" failures:"none" help:"Remove a recording and its film from this machine."`
	Prune     pruneCmd     `cmd:"" effects:"none" failures:"none" help:"Remove the recordings that ended long ago."`
	Doctor    doctorCmd    `cmd:"" effects:"none" failures:"none" help:"Check what a recording needs on this machine, and try a real one of a second."`
	MCP       mcpCmd       `cmd:"" name:"mcp" effects:"none,recording-started,event-recorded,proof-saved" failures:"none,finalize-partial" help:"Serve recordings to an agent as a Model Context Protocol server on stdin and stdout; logs go to stderr. Ends with its client, and ends what that client started."`
	HelpCmd   helpCmd      `cmd:"" name:"help" effects:"none" failures:"none" help:"The same as --help."`
	VersionIs versionCmd   `cmd:"" name:"version" effects:"none" failures:"none" help:"The same as --version."`
	Supervise superviseCmd `cmd:"" hidden:"" effects:"none" failures:"none" help:"Own a recording; start runs this by itself."`
	Finish    finishCmd    `cmd:"" hidden:"" effects:"none" failures:"none" help:"Bring a recording to its end whose supervisor died; stop runs this by itself."`
}

type startCmd struct {
	URL              address  `placeholder:"URL" default:"about:blank" max:"8192" help:"The page to open; http, https, file or about. Needs a browser."`
	FPS              fps      `placeholder:"N" default:"auto" min:"1" max:"60" help:"Frames a second. auto aims at 60 on an own display and 15 on one that is there, and gives way when the processor is short."`
	Rate             choice   `allowed:"cfr,vfr" otherwise:"cfr at 30 and 60 frames a second, else vfr" help:"cfr repeats frames so that the rate is exactly --fps; vfr holds a still picture as one long frame."`
	Size             geometry `placeholder:"WIDTHxHEIGHT" default:"1920x1080" min:"16x16" max:"7680x4320" help:"Size of the own display, in pixels. Odd sizes are padded in the film."`
	Display          screen   `placeholder:"NAME" default:"new" help:"new starts an own display; current, or an X11 name such as :0, films one that is there and touches nothing on it."`
	Browser          choice   `allowed:"auto,agent-browser,chromium,none" default:"auto" help:"The browser on the own display. auto is agent-browser where it is found, else chromium."`
	Cursor           choice   `allowed:"auto,on,off" default:"auto" help:"Whether the mouse pointer is in the film."`
	Keys             toggle   `help:"Kept for clips: name the shortcuts (Ctrl+S) and the keys that type nothing (Enter, F5) that are used. What is typed is never kept: characters have no names, and a second of typing is one entry."`
	Engine           choice   `allowed:"auto,x11,x11grab" default:"auto" help:"What captures the display: x11 takes what changed, x11grab is ffmpeg's grabber."`
	MaxDuration      duration `placeholder:"TIME" min:"1s" max:"24h" otherwise:"30m on an own display, 5m on one that is there" help:"When the recording ends by itself. A later stop still delivers it."`
	MinFree          size     `placeholder:"SIZE" default:"200MB" min:"1MB" max:"1TB" help:"Free disk space at which the recording ends by itself, while there is room to finish it."`
	Publish          target   `placeholder:"TARGET" default:"none" max:"4096" help:"Where the film goes at stop: none keeps it here, dir:PATH copies it, uploads.sh uploads it."`
	UploadsWorkspace text     `placeholder:"NAME" max:"200" fromenv:"UPLOADS_WORKSPACE" otherwise:"the uploads program's own setting" help:"The uploads.sh workspace. Needs --publish uploads.sh."`
	Stills           choice   `allowed:"cut,keep" default:"cut" help:"Kept for clips: whether stretches with no change are cut."`
	Speed            choice   `allowed:"1,2,4" default:"1" help:"Kept for clips: how fast they play."`
	Position         choice   `allowed:"top,bottom" default:"top" help:"Kept for clips: where captions stand."`
	Name             label    `placeholder:"NAME" max:"100" otherwise:"no name" help:"A name for people; it may not hold / or \\."`
	StartupTimeout   duration `placeholder:"TIME" default:"60s" min:"1s" max:"10m" help:"How long the start may take before it is given up and cleaned away."`
	UntilPID         number   `name:"until-pid" placeholder:"PID" min:"1" max:"4194304" otherwise:"no process" help:"The recording ends by itself when this process goes away."`
}

type stepCmd struct {
	Text text  `arg:"" max:"4000" help:"What is about to be done, as one quoted argument."`
	ID   ident `name:"id" placeholder:"ID" fromenv:"PROOFREEL_RECORDING" otherwise:"the only recording that runs" help:"The recording."`
}

type resultCmd struct {
	Verdict choice `arg:"" allowed:"pass,fail" help:"How it ended."`
	Text    text   `arg:"" max:"4000" help:"What was seen, as one quoted argument."`
	ID      ident  `name:"id" placeholder:"ID" fromenv:"PROOFREEL_RECORDING" otherwise:"the only recording that runs" help:"The recording."`
}

type statusCmd struct {
	ID ident `arg:"" optional:"" fromenv:"PROOFREEL_RECORDING" otherwise:"the only recording that runs, else the newest" help:"The recording."`
}

type stopCmd struct {
	ID      ident    `arg:"" optional:"" fromenv:"PROOFREEL_RECORDING" otherwise:"the only recording that runs, else the newest" help:"The recording."`
	Timeout duration `placeholder:"TIME" default:"60s" min:"1s" max:"1h" help:"For how long nothing may move before stop gives up. Work that goes on is never cut off."`
	Clip    toggle   `help:"Make a clip as well, with the options that start was given, in the folder of PROOFREEL_OUT, else recordings. A display that was there gets one without being asked."`
	NoClip  toggle   `name:"no-clip" help:"Make no clip."`
}

type clipCmd struct {
	ID       ident  `arg:"" optional:"" fromenv:"PROOFREEL_RECORDING" otherwise:"the newest recording that has a film" help:"The recording."`
	Out      text   `placeholder:"DIR" default:"recordings" max:"4096" fromenv:"PROOFREEL_OUT" help:"The folder for the clip's files; it is made when it is not there."`
	Stills   choice `allowed:"cut,keep" otherwise:"as start was told" help:"Whether stretches of over a second with no change keep half a second, or all."`
	Speed    choice `allowed:"1,2,4" otherwise:"as start was told" help:"How fast it plays. Captions are up for their reading time at each."`
	Position choice `allowed:"top,bottom" otherwise:"as start was told" help:"Where captions stand; bottom is above a taskbar."`
	Width    number `placeholder:"PIXELS" default:"1280" min:"64" max:"1280" help:"The clip's width; it is never wider than the film."`
	FPS      number `placeholder:"N" default:"15" min:"1" max:"60" help:"Frames a second, at most: a still picture is one long frame."`
	CRF      number `name:"crf" placeholder:"N" min:"0" max:"51" otherwise:"28" help:"Quality of H.264's scale, for WebM and WebP too: less is better and larger. GIF has none."`
	MaxSize  size   `placeholder:"SIZE" min:"10kB" max:"100GB" otherwise:"any size" help:"What the video's file does not exceed. Quality goes first for it, then size and frame rate; data.notes says what was traded."`
	Format   choice `allowed:"mp4,webm,gif,webp" default:"mp4" help:"The video's format. GIF and WebP come without a page."`
	Pointer  toggle `help:"Draw the pointer, which glides where a program made it jump, and a ring where it clicked."`
	Keys     toggle `help:"Draw the keys that have a name as caps: start --keys names them. What was typed is never shown."`
	Zoom     toggle `help:"Go near to where clicks were."`
	Frame    toggle `help:"Stand the film on a background, with round corners."`
	Name     label  `placeholder:"NAME" max:"100" otherwise:"the recording's name" help:"The clip's title, and the beginning of its files' names."`
}

type watchCmd struct {
	ID ident `arg:"" optional:"" fromenv:"PROOFREEL_RECORDING" otherwise:"the only recording that runs, else the newest" help:"The recording."`
}

type listCmd struct{}

type recoverCmd struct {
	ID      ident    `arg:"" help:"The recording."`
	Timeout duration `placeholder:"TIME" default:"60s" min:"1s" max:"1h" help:"For how long nothing may move before recover gives up."`
}

type discardCmd struct {
	ID ident `arg:"" help:"The recording."`
}

type pruneCmd struct {
	OlderThan duration `required:"" placeholder:"TIME" min:"0s" max:"3650d" help:"Remove what ended longer ago than this; running recordings stay."`
}

type doctorCmd struct{}

type mcpCmd struct{}

type helpCmd struct {
	Command choice `arg:"" optional:"" allowed:"start,step,result,status,stop,clip,render,still,sheet,generate,setup,scene,watch,list,recover,discard,prune,doctor,mcp,help,version" help:"The command to explain."`
	Sub     choice `arg:"" optional:"" name:"subcommand" allowed:"check,preview,new,styles,libraries" help:"The one of its commands, where it has several."`
}

type versionCmd struct{}

type superviseCmd struct {
	Dir text `arg:"" max:"4096" help:"The recording's directory."`
}

type finishCmd struct {
	Dir text `arg:"" max:"4096" help:"The recording's directory."`
}
