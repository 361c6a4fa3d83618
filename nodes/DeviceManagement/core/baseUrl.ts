import { inputFailure } from './failure';

const EXAMPLE = 'Enter it like https://devices.example.com.';
const EMPTY = `${EXAMPLE} If it's an expression, check its result.`;
const WITHOUT_USER = "Remove them, and use 'Authentication' to sign in.";

/**
 * Returns the entered base URL with its path prefix (section 1: {base_url}). People paste it from their browser: what follows `?` or `#` doesn't
 * count. Throws a Failure `input` if it is none.
 */
export function parseBaseUrl(entered: string) {
	const text = entered.trim();
	const refuse = (what: string, remedy = EXAMPLE) => inputFailure(`'Base URL' in the credential ${what}`, remedy);
	if (text === '') throw refuse('is empty', EMPTY);
	if (!/^https?:\/\//i.test(text)) throw refuse("doesn't start with https:// or http://");
	if (!URL.canParse(text)) throw refuse("isn't an address");
	const url = new URL(text);
	if (url.username !== '' || url.password !== '') throw refuse('contains a user name or password', WITHOUT_USER);
	return { origin: url.origin, href: `${url.origin}${url.pathname.replace(/\/*(\/api)?\/*$/, '')}` };
}
