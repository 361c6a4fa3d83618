/**
 * What a request is for. Words about what went wrong go by it: they name only fields that whoever asked has in the form, and
 * of a write they say whether it may have been carried out.
 */
export type Purpose =
	/** A page of Get Many. */
	| 'list'
	/** A page of what the trigger watches. */
	| 'watch'
	| 'count'
	/** One device by its serial number. */
	| 'device'
	/** The dropdown to pick a device from. */
	| 'dropdown'
	/** API Request by GET. */
	| 'read'
	/** API Request by any other method. */
	| 'write'
	| 'login'
	/** The credential's connection test. */
	| 'test';
