/**
 * Returns the parameters of `fc.assert` for so many random cases. `npm test` tries a tenth of them. PROPERTY_RUNS multiplies
 * this number: 10 tries all of them, as the nightly run does.
 * @param seed of the cases in `npm test`, for a property that may fail by chance
 */
export function runs(cases: number, seed?: number): { numRuns: number; seed?: number } {
	const factor = process.env['PROPERTY_RUNS'];
	const numRuns = Math.ceil((cases * Number(factor ?? 1)) / 10);
	return factor === undefined && seed !== undefined ? { numRuns, seed } : { numRuns };
}
