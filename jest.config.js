/**
 * How one test file runs. `npm test` runs all of them, or those that it gets: jest.groups.config.js.
 * @type {import('jest').Config}
 */
module.exports = {
	// Real requests in a real engine: a machine that is busy with other things must not make them fail.
	testTimeout: 60_000,
	testMatch: ['<rootDir>/test/**/*.test.mts'],
	moduleFileExtensions: ['mts', 'ts', 'js', 'mjs', 'cjs', 'json', 'node'],
	transform: {
		'\\.m?ts$': [
			'@swc/jest',
			{
				jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
				module: { type: 'commonjs', ignoreDynamic: false },
				isModule: true,
			},
		],
	},
	// The engine tests load the package as n8n does, by the paths package.json names; they get the sources
	// behind those paths, so that a test never runs against a stale build and coverage sees the real files.
	moduleNameMapper: {
		'^(.*)/dist/((?:nodes|credentials)/.*)\\.js$': '$1/$2.ts',
	},
	modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.cache/'],
};
