/**
 * ESLint for what is not shipped, tests and developer commands, for what each folder may import, and for how long a function may be.
 * Separate, because the package's own `eslint.config.mjs` has to stay the unchanged stock one.
 */
import { defineConfig, globalIgnores } from 'eslint/config';
import imports, { createNodeResolver } from 'eslint-plugin-import-x';
import typescript from 'typescript-eslint';

const node = './nodes/DeviceManagement';
const shipped = ['./nodes', './credentials'];

const packages = './node_modules';
/** The packages that n8n provides to nodes. A development dependency is missing there. n8n's own rules name the modules of Node.js. */
const provided = ['n8n-workflow', 'p-limit', 'zod'].map((name) => `${packages}/${name}`);

const requests = [...provided, `${node}/transport`, `${node}/core`];

/** What may import what: the imports of a folder, itself aside. Tests may import everything. */
const LAYERS = {
	'./scripts': [packages, './testbed', ...shipped],
	'./testbed': [packages, ...shipped],
	// The embedded platform shares no code with the package, because it would share its mistakes, too.
	'./testbed/platform': [packages],
	'./credentials': requests,
	'./nodes': provided,
	[`${node}/resources`]: [...requests, `${node}/fields`, `${node}/nodeError.ts`],
	[`${node}/listSearch`]: [...requests, `${node}/fields`, `${node}/nodeError.ts`],
	[`${node}/trigger`]: [...requests, `${node}/listSearch`, `${node}/fields`, `${node}/nodeError.ts`],
	[`${node}/nodeError.ts`]: requests,
	[`${node}/fields`]: requests,
	[`${node}/transport`]: [...provided, `${node}/core`],
	[`${node}/core`]: [`${packages}/zod`],
};

const zones = Object.entries(LAYERS).map(([target, allowed]) => ({
	target,
	from: '.',
	except: [target, ...allowed],
}));

export default defineConfig(
	globalIgnores(['.cache/', 'dist/', 'coverage/', '**/*.{js,cjs,mjs}']),
	{
		files: ['**/*.{mts,ts}'],
		plugins: { 'import-x': imports },
		languageOptions: { parser: typescript.parser },
		// Shipped code switches off rules of the stock configuration.
		linterOptions: { reportUnusedDisableDirectives: 'off' },
		settings: {
			'import-x/extensions': ['.ts', '.mts'],
			'import-x/parsers': { '@typescript-eslint/parser': ['.ts', '.mts'] },
			'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.js', '.json'] })],
		},
		rules: {
			'import-x/no-restricted-paths': ['error', { zones }],
			'import-x/no-cycle': ['error', { ignoreExternal: true }],
			// The two rules above only know imports that they can follow.
			'import-x/no-unresolved': ['error', { commonjs: true }],
		},
	},
	{
		files: ['**/*.{mts,ts}'],
		// Their `describe` is a function.
		ignores: ['**/*.test.mts'],
		rules: { 'max-lines-per-function': ['error', 50] },
	},
	{
		files: ['**/*.mts'],
		extends: [typescript.configs.recommended],
		rules: {
			// The compiler finds them.
			'@typescript-eslint/no-unused-vars': 'off',
		},
	},
);
