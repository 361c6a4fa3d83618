import { inputFailure } from './failure';

/** A checked base URL. */
export interface BaseUrl {
	/** Scheme, host and port. */
	origin: string;
	/** Origin and path prefix, without a slash at the end; paths such as /api/device/list are appended. */
	href: string;
}

const EXAMPLE = 'Enter it like https://devices.example.com, without /api at the end.';
const EMPTY = `${EXAMPLE} If it is an expression, it gave no value for this item.`;

/**
 * Returns the base URL that the user entered (section 1 of the API document: {base_url}).
 * @param entered the credential's 'Base URL'; may have spaces around it, slashes at its end and a path prefix
 * @throws Failure `input` for an address without http(s), or with user info, a query or a fragment
 */
export function parseBaseUrl(entered: string): BaseUrl {
	const text = entered.trim();
	if (text === '') throw inputFailure("'Base URL' in the credential is empty", EMPTY);
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
