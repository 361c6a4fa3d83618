import { existsSync } from 'node:fs';

const browsers = [
	'/usr/bin/chromium',
	'/usr/bin/chromium-browser',
	'/usr/bin/google-chrome',
	'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
	'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Returns the path of a Chromium on this machine; undefined without one. It downloads nothing. */
export function findBrowser(): string | undefined {
	return browsers.find((path) => existsSync(path));
}
