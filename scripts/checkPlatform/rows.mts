/** What a check can find out, in the order of the table. */
export const CHECKS = {
	signIn: 'Sign-in',
	envelope: 'Response envelope',
	list: 'Device list',
	firstPage: 'First page number',
	severalPages: 'Several pages',
	pageSize: 'Largest page size',
	totals: "Totals and 'last'",
	pastEnd: 'Page past the end',
	sortCreateTime: 'Sort by createTime',
	sortUpdateTime: 'Sort by updateTime',
	sortAttribute: 'Sort by an attribute',
	filterCompositeStatus: 'Filter compositeStatus',
	filterName: 'Filter name',
	filterTags: 'Filter tags',
	filterAttributes: 'Filter attributes',
	get: 'Get by serial number',
	unknownSerialNumber: 'Unknown serial number',
	onlineStatus: 'Field onlineStatus',
	status: 'Field status',
	createTime: 'Field createTime',
	updateTime: 'Field updateTime',
	polls: 'Requests of a poll',
	speed: 'Speed',
} as const;

export type CheckId = keyof typeof CHECKS;

/** Without these the nodes don't work. */
const ESSENTIAL: ReadonlySet<CheckId> = new Set(['signIn', 'envelope', 'list', 'firstPage', 'severalPages', 'get']);

/** What one check found. */
export interface Finding {
	/** `unsure`: the check could not tell. */
	result: 'yes' | 'no' | 'unsure';
	/** What the platform does, in a few words. Of devices, it holds counts and short status values only. */
	found: string;
	/** What that means for the nodes: one line. */
	advice: string;
}

export type Findings = Partial<Record<CheckId, Finding>>;

export interface Row extends Finding {
	id: CheckId;
	check: string;
	essential: boolean;
}

export const yes = (found: string, advice: string): Finding => ({ result: 'yes', found, advice });
export const no = (found: string, advice: string): Finding => ({ result: 'no', found, advice });
export const unsure = (found: string, advice: string): Finding => ({ result: 'unsure', found, advice });

/**
 * The rows of the table, one for each check.
 * @param missing for a check without a finding
 */
export function rowsOf(findings: Findings, missing: Finding): Row[] {
	return checkIds.map((id) => ({
		id,
		check: CHECKS[id],
		essential: ESSENTIAL.has(id),
		...(findings[id] ?? missing),
	}));
}

/** Whether the nodes work with the platform, by the essential rows. */
export type Verdict = 'works' | 'missing' | 'unsure';

export function verdictOn(rows: readonly Row[]): Verdict {
	const results = rows.filter(({ essential }) => essential).map(({ result }) => result);
	if (results.includes('no')) return 'missing';
	return results.includes('unsure') ? 'unsure' : 'works';
}

const checkIds = Object.keys(CHECKS).filter((id): id is CheckId => id in CHECKS);
