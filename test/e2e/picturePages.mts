/** Small HTML pages for pictures: a terminal with the output of a command, and a mail. Each follows the theme of the browser. */

import { escape, type Mail } from '../../testbed/n8n/mailServer.mts';

const THEMES = `
	:root { color-scheme: light dark; --back: #ffffff; --bar: #eceff2; --line: #d0d7de; --text: #1f2328; --faint: #59636e; --yes: #1a7f37 }
	@media (prefers-color-scheme: dark) {
		:root { --back: #161b22; --bar: #21262d; --line: #3d444d; --text: #e6edf3; --faint: #9198a1; --yes: #3fb950 }
	}
	body { margin: 0; width: max-content; color: var(--text); background: var(--back); border: 1px solid var(--line) }
`;

/** Characters that take two columns of a terminal. */
const WIDE =
	/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/gu;

/** Returns a terminal with a command and its output. */
export function terminalPage(command: string, output: string): string {
	const text = escape(output).replace(WIDE, '<i>$&</i>').replace(/[✓✔]/g, '<b>$&</b>');
	return `<!doctype html><meta charset="utf-8"><style>${THEMES}
		header { padding: 9px 14px; background: var(--bar); border-bottom: 1px solid var(--line) }
		header span { display: inline-block; width: 11px; height: 11px; margin-right: 6px; border-radius: 50%; background: var(--line) }
		pre { margin: 0; padding: 14px 18px; font: 14px/18px 'DejaVu Sans Mono', 'Noto Sans Mono', Menlo, Consolas, monospace }
		i { display: inline-block; width: 2ch; font-style: normal; line-height: 1 }
		b { color: var(--yes); font-weight: normal }
		u { color: var(--faint); text-decoration: none }
	</style><header><span></span><span></span><span></span></header><pre><u>$</u> ${escape(command)}\n${text}</pre>`;
}

/** Returns a mail as its reader sees it, narrow enough for two side by side. `html` is shown as it is. */
export function mailPage({ from, to, subject = '', text = '', html }: Mail): string {
	return `<!doctype html><meta charset="utf-8"><style>${THEMES}
		body { width: 380px; padding: 12px 10px; font: 13px/19px 'Noto Sans', system-ui, sans-serif; border-radius: 0 }
		h1 { margin: 0 0 6px; font-size: 16px }
		p { margin: 0; color: var(--faint); font-size: 13px }
		pre { margin: 10px 0 0; padding-top: 10px; border-top: 1px solid var(--line); font: inherit; white-space: pre-wrap }
		th { font-weight: inherit }
		td { white-space: nowrap; border-color: var(--line) !important }
	</style><h1>${escape(subject)}</h1><p>From: ${escape(from)}</p><p>To: ${escape(to.join(', '))}</p><pre>${html ?? escape(text)}</pre>`;
}
