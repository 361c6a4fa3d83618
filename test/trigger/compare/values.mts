import fc from 'fast-check';

/** Texts, and values of fields, long ones too. */
export const text = fc.oneof(
	fc.string(),
	fc.string({ unit: 'binary', maxLength: 120 }),
	fc.constantFrom('', ' ', '"', '\\', "'", '\0', '\ud800', '__proto__', 'x'.repeat(100), 'x'.repeat(101)),
);
export const value = fc.oneof(
	text,
	fc.integer(),
	fc.double({ noNaN: true, noDefaultInfinity: true }),
	fc.boolean(),
	fc.constant(null),
	fc.json().map((json): object | null => JSON.parse(json)),
);
