import { InvalidArgumentError } from 'commander';

/** Reads the value of a flag that takes a whole number. */
export function whole(text: string): number {
	if (/^\d{1,9}$/.test(text)) return Number(text);
	throw new InvalidArgumentError('Enter a whole number.');
}

/** Reads the value of a flag that takes a number from 1. */
export function positive(text: string): number {
	const number = whole(text);
	if (number > 0) return number;
	throw new InvalidArgumentError('Enter a number from 1.');
}
