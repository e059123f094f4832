package chromium

import (
	"os"
	"strings"
)

// flags is the whole command line, without the program.
func flags(o Options, noSandbox bool) []string {
	f := []string{
		"--headless", "--remote-debugging-pipe", "--user-data-dir=" + o.Dir,

		// Nothing leaves, also what interception would miss: no name resolves,
		// and the one proxy is a port where nobody listens.
		"--host-resolver-rules=MAP * ~NOTFOUND",
		"--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>",
		"--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy",

		// A browser that is for this only.
		"--no-first-run", "--no-default-browser-check", "--no-pings", "--no-service-autorun",
		"--disable-background-networking", "--disable-breakpad", "--disable-crash-reporter",
		"--disable-client-side-phishing-detection", "--disable-component-update",
		"--disable-component-extensions-with-background-pages", "--disable-default-apps",
		"--disable-domain-reliability", "--disable-extensions", "--disable-field-trial-config",
		"--disable-notifications", "--disable-print-preview", "--disable-speech-api", "--disable-sync",
		"--metrics-recording-only", "--mute-audio", "--password-store=basic", "--use-mock-keychain",
		"--disable-features=" + strings.Join(disabled(), ","),
		"--enable-features=NetworkServiceInProcess2", // one process less
		"--disk-cache-size=1", "--media-cache-size=1",

		// It is never looked at, and yet may not slow down.
		"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
		"--disable-renderer-backgrounding", "--disable-hang-monitor", "--disable-ipc-flooding-protection",

		// The same pixels on every machine.
		"--force-color-profile=srgb", "--force-device-scale-factor=1", "--font-render-hinting=none",
		"--disable-lcd-text", "--hide-scrollbars", "--lang=en-US", "--disable-partial-raster",
	}
	if o.WebGL {
		f = append(f, "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
	} else {
		f = append(f, "--disable-gpu", "--disable-3d-apis")
	}
	if noSandbox {
		f = append(f, "--no-sandbox", "--no-zygote")
	}
	return append(f, o.Flags...)
}

// disabled are the features that ask the network, paint over pages, or keep
// processes of their own.
func disabled() []string {
	return []string{
		"AcceptCHFrame", "AutofillServerCommunication", "BackForwardCache", "CalculateNativeWinOcclusion",
		"CertificateTransparencyComponentUpdater", "DialMediaRouteProvider", "MediaRouter",
		"OptimizationHints", "PaintHolding", "SpareRendererForSitePerProcess", "Translate",
	}
}

// environment is the whole environment of the browser.
func environment(o Options, temp string) []string {
	return append([]string{
		"HOME=" + o.Dir, "TMPDIR=" + temp, "PATH=/usr/bin:/bin",
		"XDG_CONFIG_HOME=" + o.Dir, "XDG_CACHE_HOME=" + o.Dir, "XDG_DATA_HOME=" + o.Dir, "XDG_RUNTIME_DIR=" + o.Dir,
		"LANG=en_US.UTF-8", "LANGUAGE=en_US", "TZ=UTC",
		"DBUS_SESSION_BUS_ADDRESS=disabled:", "DBUS_SYSTEM_BUS_ADDRESS=disabled:",
	}, o.Env...)
}

// sandboxWorks guesses whether Chromium's own sandbox can be had. It can't as
// root, and it needs user namespaces. A wrong yes is noticed at the start.
func sandboxWorks() bool {
	if os.Geteuid() == 0 {
		return false
	}
	return sysctl("user/max_user_namespaces", "") != "0" &&
		sysctl("kernel/unprivileged_userns_clone", "1") != "0" &&
		sysctl("kernel/apparmor_restrict_unprivileged_userns", "0") != "1"
}

// sysctl reads a kernel setting; one that this kernel does not have has the
// value that stands for it.
func sysctl(name, absent string) string {
	raw, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return absent
	}
	return strings.TrimSpace(string(raw))
}
