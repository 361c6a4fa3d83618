/** Returns a promise that the caller settles. */
export function held() {
	let [resolve, reject] = [() => {}, (_reason: unknown) => {}];
	const promise = new Promise<void>((...both) => ([resolve, reject] = both));
	return { promise, resolve, reject };
}
