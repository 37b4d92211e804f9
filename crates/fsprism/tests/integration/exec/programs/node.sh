# needs: node
cat >n.js <<'X'
const fs = require('fs'), cp = require('child_process'), p = fs.promises;
fs.mkdirSync('a/b', { recursive: true });
fs.writeFileSync('a/b/f', 'hello');
console.log(fs.readFileSync('a/b/f', 'utf8'), fs.statSync('a/b/f').size, fs.readdirSync('a'));
(async () => {
    await p.writeFile('g', 'x'.repeat(100000));
    console.log((await p.stat('g')).size, (await p.readFile('g')).length);
    await p.cp('a', 'c', { recursive: true });
    console.log(await p.readdir('c/b'));
    await p.rm('c', { recursive: true });
    const copied = fs.createReadStream('g').pipe(fs.createWriteStream('h'));
    await new Promise((done) => copied.on('finish', done));
    console.log(fs.statSync('h').size, cp.execSync('cat a/b/f').toString());
    console.log(cp.spawnSync('sh', ['-c', 'echo hi >s; cat s']).stdout.toString());
    await Promise.all([...Array(20).keys()].map((i) => p.writeFile('p' + i, '' + i)));
    console.log(fs.readdirSync('.').filter((name) => /^p/.test(name)).length);
    fs.copyFileSync('g', 'k');
    console.log(fs.realpathSync('a/../k').slice(-2));
})();
X
node n.js
