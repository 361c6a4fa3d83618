import { once } from 'node:events';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { z } from 'zod/v4';

export interface Mail {
	from: string;
	to: string[];
	subject: string | undefined;
	/** Without the line break that ends every mail. */
	text: string | undefined;
	/** Only of a mail in HTML. */
	html?: string;
}

/** An SMTP server of this machine that keeps what it is sent; its credential is for n8n's Send Email node. */
export async function startMailServer() {
	const mails: Mail[] = [];
	const server = new SMTPServer({
		authOptional: true,
		disabledCommands: ['STARTTLS'],
		onData(stream, _session, callback) {
			const read = async () => {
				const { from, to, subject, text, html } = await PostalMime.parse(Buffer.concat(await stream.toArray()));
				const addresses = (to ?? []).map(({ address }) => address ?? '');
				const sent = { from: from?.address ?? '', to: addresses, subject, text: text?.trimEnd() };
				mails.push({ ...sent, ...(html !== undefined && { html }) });
			};
			void read().then(() => callback(), callback);
		},
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const { port } = z.object({ port: z.number() }).parse(server.server.address());
	const address = { host: '127.0.0.1', port, secure: false, disableStartTls: true, hostName: '' };
	return {
		credential: { id: 'mailServer', name: 'Mail server', type: 'smtp', data: { user: '', password: '', ...address } },
		mails,
		stop: async () => await new Promise<void>((resolve) => server.close(resolve)),
	};
}
