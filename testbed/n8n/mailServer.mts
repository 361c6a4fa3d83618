import { once } from 'node:events';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { z } from 'zod/v4';

import { close, listen } from '../platform/httpServer.mts';
import type { Credential } from './instance.mts';

export interface Mail {
	from: string;
	to: string[];
	subject: string | undefined;
	/** Without the line break that ends every mail. */
	text: string | undefined;
	/** Only of a mail in HTML. */
	html?: string | undefined;
	/** When it was sent, in ISO 8601. */
	date: string;
}

/** The credential that the examples with mail name, for an SMTP server of this machine. */
export function mailCredential(port: number): Credential {
	const address = { host: '127.0.0.1', port, secure: false, disableStartTls: true, hostName: '' };
	return { id: 'mailServer', name: 'Mail server', type: 'smtp', data: { user: '', password: '', ...address } };
}

/**
 * An SMTP server of this machine that keeps what it is sent, and shows it on a page.
 * @param pagePort of the page; default: any free one
 */
export async function startMailServer(pagePort = 0) {
	const mails: Mail[] = [];
	/** How it refuses the next attempts: at the greeting (421) or the sender (451). */
	const refusals: Array<421 | 451> = [];
	const refuse = (status: 421 | 451, callback: (error?: Error) => void) => {
		if (refusals[0] !== status) return callback();
		refusals.shift();
		callback(Object.assign(new Error('Try again later'), { responseCode: status }));
	};
	const server = new SMTPServer({
		authOptional: true,
		disabledCommands: ['STARTTLS'],
		onConnect: (_session, callback) => refuse(421, callback),
		onMailFrom: (_address, _session, callback) => refuse(451, callback),
		onData(stream, _session, callback) {
			const read = async () => {
				const mail = await PostalMime.parse(Buffer.concat(await stream.toArray()));
				const { from, to, subject, text, html, date = '' } = mail;
				const addresses = (to ?? []).map(({ address }) => address ?? '');
				mails.push({ from: from?.address ?? '', to: addresses, subject, text: text?.trimEnd(), html, date });
			};
			void read().then(() => callback(), callback);
		},
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const { port } = z.object({ port: z.number() }).parse(server.server.address());
	const mailbox = await listen((_request, response) => {
		response.setHeader('Content-Type', 'text/html; charset=utf-8').end(mailboxPage(mails));
	}, pagePort);
	return {
		credential: mailCredential(port),
		mails,
		refusals,
		mailbox: mailbox.origin,
		stop: async () => {
			await close(mailbox.server);
			await new Promise<void>((resolve) => server.close(resolve));
		},
	};
}

/** The page of the mailbox: the newest mail first. It loads again every five seconds. */
function mailboxPage(mails: readonly Mail[]): string {
	const shown = mails.map(({ from, to, subject = '', text = '', html, date }) => {
		const head = `From ${from} to ${to.join(', ')}, ${date.slice(0, 19).replace('T', ' ')} UTC`;
		const body = html ? `<iframe sandbox srcdoc="${escape(html)}"></iframe>` : `<pre>${escape(text)}</pre>`;
		return `<h2>${escape(subject)}</h2><p>${escape(head)}</p>${body}`;
	});
	return `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="5"><title>Mailbox</title><style>
		:root { color-scheme: light dark }
		body { max-width: 50rem; margin: 2rem auto; font-family: system-ui, sans-serif }
		iframe { width: 100%; height: 20rem }
	</style><h1>Mailbox</h1>${shown.toReversed().join('<hr>') || 'No mail yet. It may take up to two minutes. This page loads again every five seconds.'}`;
}

/** For HTML. */
function escape(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
