import { Readers } from './contenders.mts';
import { startPlatforms } from './platforms.mts';
const p = await startPlatforms([1000, 10000, 100000]);
const r = await Readers.load();
await p.setLatency(0);
for (const s of [1000,10000]) for (const kind of ['node','undici','http request'] as const) await r.list({kind, pageSize:100, parallel: 8}, p.of(s,false));
await p.setLatency(50);
const g = globalThis.gc!;
for (const [size,ps,par] of [[10000,100,8],[10000,1000,8],[100000,1000,8],[100000,2000,8],[100000,2000,4]] as const) {
 const all = new Map<string,number[][]>();
 for (let i=0;i<5;i++) for (const kind of ['node','undici','http request'] as const) { if (kind==='http request' && i>1) continue; g(); const t=performance.now(); const c0=process.cpuUsage(); await r.list({kind,pageSize:ps, parallel: par}, p.of(size,false)); const c=process.cpuUsage(c0); const a=all.get(kind)??[]; a.push([Math.round(performance.now()-t), Math.round((c.user+c.system)/1000)]); all.set(kind,a);} 
 console.log(size,ps,par); for (const [k,v] of all) { v.sort((a,b)=>a[0]!-b[0]!); console.log('  ',k.padEnd(13),'median wall/cpu',v[v.length>>1], 'all', JSON.stringify(v)); }
}
await r.close(); p.stop();
