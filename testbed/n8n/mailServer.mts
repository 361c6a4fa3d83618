import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { z } from 'zod/v4';

import type { Credential } from './instance.mts';

export interface Mail {
	to: string[];
	subject: string | undefined;
	/** Without the line break that ends every mail. */
	text: string | undefined;
	/** Only of a mail in HTML. */
	html?: string;
}

/** An SMTP server of this machine that keeps what it is sent. */
export interface MailServer {
	/** For n8n's Send Email node. */
	readonly credential: Credential;
	readonly mails: readonly Mail[];
	stop(): Promise<void>;
}

export async function startMailServer(): Promise<MailServer> {
	const mails: Mail[] = [];
	const server = new SMTPServer({
		authOptional: true,
		disabledCommands: ['STARTTLS'],
		onData(stream, _session, callback) {
			const read = async () => {
				const { to, subject, text, html } = await PostalMime.parse(Buffer.concat(await stream.toArray()));
				const addresses = (to ?? []).map(({ address }) => address ?? '');
				mails.push({ to: addresses, subject, text: text?.trimEnd(), ...(html !== undefined && { html }) });
			};
			void read().then(() => callback(), callback);
		},
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', resolve);
	});
	const { port } = z.object({ port: z.number() }).parse(server.server.address());
	return {
		credential: {
			id: 'mailServer',
			name: 'Mail server',
			type: 'smtp',
			data: { user: '', password: '', host: '127.0.0.1', port, secure: false, disableStartTls: true, hostName: '' },
		},
		mails,
		stop: async () => await new Promise((resolve) => server.close(() => resolve())),
	};
}
