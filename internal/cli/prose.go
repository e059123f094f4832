package cli

import "github.com/proofreel/proofreel/internal/fault"

// prose is the part of the manifest that no code can know.
func prose() Manifest {
	return Manifest{
		Summary: "Records what an agent does on a screen and gives one verified MP4 as proof; makes films of scenes written in JavaScript, and of prompts by an agent in a locked box.",
		Workflow: []Step{
			{"proofreel doctor", "Once on a new machine: says what is missing and how to install it."},
			{"proofreel start --url URL", "Starts a screen, a browser and the recording. Keep data.recordingId and data.agentBrowserCommand."},
			{`proofreel step "Open the settings"`, "Before each thing that is to be shown."},
			{"AGENT-BROWSER-COMMAND click ...", "Do it: put the arguments of data.agentBrowserCommand before every browser action."},
			{`proofreel result pass "The settings are open"`, "After it: pass or fail, and what was seen."},
			{"proofreel status", "At any time: frames, seconds, and whether all is well."},
			{"proofreel stop", "Ends the recording. data.path is the verified film, data.url its link when it was published; data.verdict says whether anything is missing."},
			{"proofreel clip", "Makes the short video that a person wants to watch: captions, cuts, a page, a contact sheet. data.markdown is the line for a thread."},
			{"proofreel scene new NAME", "For a film that nobody films: begins a scene, a JavaScript file that draws each frame from its time."},
			{"proofreel scene check NAME/scene.js", "After each change: what is wrong with it, with file, line and column."},
			{"proofreel sheet NAME/scene.js", "Look at data.path: twelve frames with their times."},
			{"proofreel render NAME/scene.js -o film.mp4", "Makes the film, the same bytes every time."},
			{"proofreel setup", "Once on a new machine, before generate: tries the boxes that there are and chooses one."},
			{`proofreel generate "A launch film for ..."`, "Has an agent in a box write, look at and render a film. data.path is the film, data.author says whether a model or a template made it."},
		},
		Prerequisites: []string{
			"Linux. This version films X11 displays only.",
			"ffmpeg with x11grab and libx264; Xvfb and openbox for an own display.",
			"agent-browser or Chromium, unless --browser none.",
			"For scenes: ffmpeg with libx264, and chromium-headless-shell or chromium.",
			"For generate: the same, and bubblewrap or gVisor's runsc; a key for a model's API, or a server that speaks the Messages API.",
			"proofreel doctor checks all of it and says what to install.",
		},
		Rules: []string{
			"Nothing updates itself, and nothing is installed or fetched behind your back.",
			"On success stdout holds exactly one JSON object and stderr is empty, except that stop, recover, render and generate report progress there, one JSON object a line, and scene preview its address.",
			"On failure stdout is empty and the last line of stderr is one JSON object with error.code, error.message, error.hint and error.retryable.",
			"Wrong flags and values exit with 2 and have no effect.",
			"A recording goes on when the program that started it ends. It ends with stop, at --max-duration, or with the process of --until-pid. One that a client of mcp started ends with that client.",
			"mcp speaks the Model Context Protocol instead: stdout is the protocol's alone, and stderr holds logs.",
			"A display that was there before gets its clip with stop, in data.clip; an own display with stop --clip, and any recording later with clip.",
			"A scene reaches no network and no file outside its folder. render goes on where an interrupted one was, and replaces --out once the new film is verified.",
			"generate without a key or --upstream uses a template of this program in place of a model, and says so in data.author and data.notes.",
			"The agent of generate is taken to be hostile: it runs in a box without a network, and nothing leaves that but a film that was encoded afresh.",
			"scene check fails when something is wrong; the code is that of the first thing, the message names all.",
			"stop may be repeated, also from several places at once: the answer is the same and there is one film.",
		},
		Environment: []Environment{
			{"PROOFREEL_OUTPUT", "Default of --output."},
			{"PROOFREEL_RECORDING", "The recording that is meant when none is named."},
			{"PROOFREEL_HOME", "Where recordings and unfinished renders are kept; else proofreel in the user's state directory."},
			{"PROOFREEL_OUT", "Where clips go; else the folder recordings in the working directory."},
			{"PROOFREEL_FFMPEG", "The ffmpeg program; else the one on PATH."},
			{"PROOFREEL_CHROMIUM", "The browser that draws scenes; else chromium-headless-shell or chromium where they are found."},
			{"ANTHROPIC_API_KEY", "The key of the provider's API for generate, unless --key-file names a file. It is not sent to a server of --upstream."},
			{"PROOFREEL_UPSTREAM_KEY", "The key of the server that generate --upstream names, unless --key-file names a file."},
			{"UPLOADS_WORKSPACE", "Default of --uploads-workspace."},
			{"NO_COLOR", "Words without colours on a terminal."},
		},
		ExitCodes: []ExitCode{
			{fault.ExitOK, "Done."},
			{fault.ExitUsage, "The caller's mistake: a command, a flag, a value, or a recording that is not in the right state. Nothing was changed."},
			{fault.ExitFailed, "It failed. error.hint says how to go on, error.artifact names a film that is safe."},
			{fault.ExitNotFound, "There is no such recording on this machine, or no such scene."},
		},
	}
}
