import { InvalidArgumentError } from 'commander';

/** Reads the value of a flag that takes a whole number from 1. */
export function positive(text: string): number {
	if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
	throw new InvalidArgumentError('Enter a whole number from 1.');
}
