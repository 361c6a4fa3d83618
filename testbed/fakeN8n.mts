/** What stands in for n8n, the platform and time where a test needs none of them. */
import type { ICredentialDataDecryptedObject as CredentialData, IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v4';

import { Failure, type FailureDetails } from '../nodes/DeviceManagement/core/failure.ts';
import { forgetAccounts } from '../nodes/DeviceManagement/transport/account.ts';
import * as authentication from '../nodes/DeviceManagement/transport/auth/authenticate.ts';
import type { PlatformContext } from '../nodes/DeviceManagement/transport/platform.ts';
import { replaceClock } from '../nodes/DeviceManagement/transport/waiting/clock.ts';
import { VirtualTime } from './virtualTime.mts';

/** A credential that signs in and has no token yet, as n8n stores it. */
export const SIGNED_OUT: CredentialData = {
	baseUrl: 'https://platform.example',
	authentication: 'login',
	loginName: 'anna',
	password: 'secret',
	sessionToken: '',
	sessionOwner: '',
};

/** A response as n8n's request function returns it for a stream, with as much of a stream as the package reads: JSON, or these bytes. */
export function responseOf(envelope: unknown, headers: Record<string, string> = {}, statusCode = 200) {
	const body = {
		on: () => {},
		[Symbol.asyncIterator]: async function* () {
			yield Buffer.isBuffer(envelope) ? envelope : Buffer.from(JSON.stringify(envelope));
		},
	};
	return { statusCode, headers, body };
}

export function failureOf(details: Partial<FailureDetails> = {}): Failure {
	return new Failure({ kind: 'status', cause: 'platform', message: 'Not now', remedy: 'Wait.', ...details });
}

const http401 = z.object({ response: z.object({ status: z.literal(401) }) });

/** The credential's functions, as a process loads them. */
type CredentialModule = Pick<typeof authentication, 'authenticate' | 'preAuthenticate' | 'TEST_MARK'>;

/** n8n's store and its request functions, as much as a request passes through: see n8n-core's authentication.js. */
export class FakeN8n {
	/**
	 * @param platform sends a request; it throws for HTTP 401 as n8n does
	 * @param stored the credential
	 * @param write takes as long as n8n takes to write to its store
	 */
	constructor(
		private readonly platform: (options: IHttpRequestOptions) => Promise<unknown>,
		public stored = SIGNED_OUT,
		private readonly write: () => Promise<void> = async () => {},
	) {}

	/** What an execution gets of n8n, and more or other parts of it. */
	context(more: object = {}, credential: CredentialModule = authentication): PlatformContext {
		type Credentials = { credentialsDecrypted: { data: CredentialData } };
		const httpRequestWithAuthentication = async (
			_type: string,
			options: IHttpRequestOptions,
			{ credentialsDecrypted: { data } }: Credentials,
		) =>
			await this.request(credential, 'current', options, data).catch((cause: unknown) => {
				throw new Error('n8n wraps it', { cause });
			});
		const getCredentials = async () => ({ ...this.stored });
		const context: object = { getCredentials, helpers: { httpRequestWithAuthentication }, ...more };
		return context as PlatformContext;
	}

	/** @param data each read of the credential returns a new object, which one request keeps to its end */
	async request(
		credential: CredentialModule,
		way: 'current' | 'older' | 'test',
		options: IHttpRequestOptions,
		data = { ...this.stored },
	): Promise<unknown> {
		const headers = way === 'test' ? { [credential.TEST_MARK]: 'true' } : {};
		const send = async () => await this.platform(await credential.authenticate(data, { headers, ...options }));
		try {
			if (way === 'test' || data['sessionToken'] === '') await this.signIn(credential, data);
			return await send();
		} catch (error) {
			if (way !== 'older' && !http401.safeParse(error).success) throw error;
			if (!(await this.signIn(credential, data)) && way === 'older') throw error;
			return await send();
		}
	}

	private async signIn({ preAuthenticate }: CredentialModule, data: CredentialData): Promise<boolean> {
		const output = await preAuthenticate(data, this.platform);
		if (output.sessionToken === undefined) return false;
		await this.write();
		this.stored = { ...this.stored, ...output };
		Object.assign(data, output);
		return true;
	}
}

/** Returns what a promise resolves or rejects with. */
export async function settled(promise: Promise<unknown>): Promise<unknown> {
	return await promise.catch((thrown: unknown) => thrown);
}

/** Each test begins at time 0, in a process that knows no account. */
export function useVirtualTime(random?: () => number): { time: VirtualTime } {
	const virtual = { time: new VirtualTime(random) };
	let putBack: () => void;
	beforeEach(() => {
		forgetAccounts();
		virtual.time = new VirtualTime(random);
		putBack = replaceClock(virtual.time);
	});
	afterEach(() => putBack());
	return virtual;
}
