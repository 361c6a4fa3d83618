import { inputFailure } from './failure';

/** A checked base URL: where the platform is and what its paths are put behind. */
export interface BaseUrl {
	/** Scheme, host and port. */
	origin: string;
	/** Origin and path prefix, without a slash at the end; paths such as /api/device/list are appended. */
	href: string;
}

const EXAMPLE = 'Enter it like https://devices.example.com, without /api at the end.';

/**
 * Checks the address that the user entered (section 1 of the API document: {base_url}).
 * @param entered the credential's 'Base URL'; spaces around it and slashes at its end are fine, a path prefix too
 * @throws Failure `input` when there is no http(s) scheme, when it carries user info, a query or a fragment
 */
export function parseBaseUrl(entered: string): BaseUrl {
	const text = entered.trim();
	if (text === '') throw inputFailure("'Base URL' in the credential is empty", EXAMPLE);
	if (!/^https?:\/\//i.test(text)) {
		throw inputFailure("'Base URL' in the credential does not start with https:// or http://", EXAMPLE);
	}
	if (!URL.canParse(text)) throw inputFailure("'Base URL' in the credential is not an address", EXAMPLE);
	const url = new URL(text);
	if (url.username !== '' || url.password !== '') {
		throw inputFailure(
			"'Base URL' in the credential contains a user name or password",
			"Remove everything before the @ and use 'Authentication' below it to sign in.",
		);
	}
	if (url.search !== '' || url.hash !== '') {
		throw inputFailure("'Base URL' in the credential contains a ? or a #", EXAMPLE);
	}
	return { origin: url.origin, href: `${url.origin}${url.pathname.replace(/\/+$/, '')}` };
}
