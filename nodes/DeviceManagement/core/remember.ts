/** Sets a key, which comes last in the map, and forgets the one that was set longest ago if there are too many. Returns the value. */
export function remember<Value>(map: Map<string, Value>, key: string, value: Value, most: number): Value {
	map.delete(key);
	map.set(key, value);
	const [oldest = ''] = map.keys();
	if (map.size > most) map.delete(oldest);
	return value;
}
