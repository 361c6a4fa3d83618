/** What stands in for n8n, the platform and time where a test needs none of them. */
import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { Failure, type FailureDetails } from '../../nodes/DeviceManagement/core/failure.ts';
import { forgetAccounts } from '../../nodes/DeviceManagement/transport/auth/account.ts';
import { replaceClock } from '../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { VirtualTime } from '../../testbed/virtualTime.mts';

/** A credential that signs in and has no token yet, as n8n stores it. */
export const SIGNED_OUT: ICredentialDataDecryptedObject = {
	baseUrl: 'https://platform.example',
	authentication: 'login',
	loginName: 'anna',
	password: 'secret',
	sessionToken: '',
	sessionOwner: '',
};

/** A response as n8n's request function returns it for a stream, with as much of a stream as the package reads. */
export function responseOf(envelope: unknown, headers: Record<string, string> = {}, statusCode = 200) {
	const body = {
		on: () => {},
		[Symbol.asyncIterator]: async function* () {
			yield Buffer.from(JSON.stringify(envelope));
		},
	};
	return { statusCode, headers, body };
}

export function failureOf(details: Partial<FailureDetails> = {}): Failure {
	return new Failure({ kind: 'status', cause: 'platform', message: 'Not now', remedy: 'Wait.', ...details });
}

/** Returns what a promise resolves or rejects with. */
export async function settled(promise: Promise<unknown>): Promise<unknown> {
	return await promise.catch((thrown: unknown) => thrown);
}

/** Each test begins at time 0, in a process that knows no account. */
export function useVirtualTime(): { time: VirtualTime } {
	const virtual = { time: new VirtualTime() };
	let putBack: () => void;
	beforeEach(() => {
		forgetAccounts();
		virtual.time = new VirtualTime();
		putBack = replaceClock(virtual.time);
	});
	afterEach(() => putBack());
	return virtual;
}
