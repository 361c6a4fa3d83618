import { InvalidArgumentError } from 'commander';

/** Reads the value of a flag that takes a whole number. */
export function whole(text: string): number {
	if (/^\d{1,9}$/.test(text)) return Number(text);
	throw new InvalidArgumentError('It takes a whole number.');
}
