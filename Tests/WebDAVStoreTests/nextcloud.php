<?php
// Nextcloud's dialect of WebDAV for tests, over sabre/dav 1.8 of Debian: file numbers, ETags that folders get from all that is below
// them, X-OC-Mtime, checksums, permissions, quota, a trash bin, uploads in chunks (version 2) and the login flow (version 2). Written
// from what Nextcloud's public source does; nothing of that is in it. Where it differs from the real server: docs/decisions/nextcloud.md.
date_default_timezone_set('UTC');
error_reporting(E_ALL & ~E_DEPRECATED);
require_once 'Sabre/autoload.php';

use Sabre\DAV;

const OC = '{http://owncloud.org/ns}';
$dir = getenv('DAV_DIR');

/** What is known of each path below `data`: its number, its ETag, the checksum that came with it, and others' properties. */
final class Table
{
    private static ?PDO $db = null;

    public static function run(string $sql, array $values = []): PDOStatement
    {
        if (self::$db === null) {
            self::$db = new PDO('sqlite:' . getenv('DAV_DIR') . '/lock/nodes.db', null, null, [PDO::ATTR_TIMEOUT => 30]);
            self::$db->exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
                CREATE TABLE IF NOT EXISTS node (id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT UNIQUE, etag TEXT, checksum TEXT);
                CREATE TABLE IF NOT EXISTS property (path TEXT, name TEXT, value TEXT, PRIMARY KEY (path, name));');
        }
        $statement = self::$db->prepare($sql);
        $statement->execute($values);
        return $statement;
    }

    public static function node(string $path): array
    {
        $found = fn () => self::run('SELECT * FROM node WHERE path = ?', [$path])->fetch(PDO::FETCH_ASSOC);
        if (($node = $found()) === false) {
            self::run('INSERT OR IGNORE INTO node (path, etag) VALUES (?, ?)', [$path, bin2hex(random_bytes(8))]);
            $node = $found();
        }
        return $node;
    }

    /** A new ETag for it and for all folders above. */
    public static function touch(string $path): void
    {
        while (true) {
            self::node($path);
            self::run('UPDATE node SET etag = ? WHERE path = ?', [bin2hex(random_bytes(8)), $path]);
            if ($path === '') {
                return;
            }
            $path = substr($path, 0, (int) strrpos($path, '/'));
        }
    }

    public static function remove(string $path): void
    {
        foreach (['node', 'property'] as $table) {
            self::run("DELETE FROM $table WHERE path = :p OR substr(path, 1, length(:p) + 1) = :p || '/'", ['p' => $path]);
        }
    }

    public static function move(string $from, string $to): void
    {
        self::remove($to);
        foreach (['node', 'property'] as $table) {
            self::run("UPDATE $table SET path = :t || substr(path, length(:p) + 1)
                WHERE path = :p OR substr(path, 1, length(:p) + 1) = :p || '/'", ['p' => $from, 't' => $to]);
        }
    }
}

/** The path below `data`, without a slash at its end. */
function place(string $file): string
{
    return substr($file, strlen(getenv('DAV_DIR') . '/data'));
}

function size(string $file): int
{
    if (!is_dir($file)) {
        return (int) @filesize($file);
    }
    // Another request may have removed it.
    return array_sum(array_map(fn ($name) => size("$file/$name"), array_diff(@scandir($file) ?: [], ['.', '..'])));
}

trait Properties
{
    public function updateProperties($mutations)
    {
        foreach ($mutations as $name => $value) {
            if ($value === null) {
                Table::run('DELETE FROM property WHERE path = ? AND name = ?', [place($this->path), $name]);
            } else {
                Table::run('INSERT OR REPLACE INTO property VALUES (?, ?, ?)', [place($this->path), $name, $value]);
            }
        }
        return true;
    }

    public function getProperties($names)
    {
        clearstatcache();
        $node = Table::node(place($this->path));
        $isFolder = is_dir($this->path);
        $found = [
            '{DAV:}getetag' => "\"{$node['etag']}\"",
            OC . 'fileid' => (string) $node['id'],
            OC . 'id' => sprintf('%08docfixture', $node['id']),
            OC . 'permissions' => is_writable($this->path) && (fileperms($this->path) & 0200) ? ($isFolder ? 'RGDNVCK' : 'RGDNVW') : 'RG',
        ];
        if (in_array(OC . 'size', $names, true)) {
            $found[OC . 'size'] = (string) size($this->path);
        }
        if ($node['checksum'] !== null) {
            $found[OC . 'checksums'] = new Checksums($node['checksum']);
        }
        foreach (Table::run('SELECT name, value FROM property WHERE path = ?', [place($this->path)]) as $row) {
            $found[$row['name']] = $row['value'];
        }
        return $found;
    }
}

class Checksums extends DAV\Property
{
    public function __construct(private string $text)
    {
    }

    public function serialize(DAV\Server $server, \DOMElement $parent)
    {
        $parent->appendChild($parent->ownerDocument->createElementNS('http://owncloud.org/ns', 'oc:checksum', $this->text));
    }
}

class File extends DAV\FS\File implements DAV\IProperties
{
    use Properties;

    public function put($data)
    {
        store($this->path, $data);
        return $this->getETag();
    }

    public function getETag()
    {
        return '"' . Table::node(place($this->path))['etag'] . '"';
    }
}

class Folder extends DAV\FS\Directory implements DAV\IProperties
{
    use Properties;

    public function __construct($path, private ?string $name = null)
    {
        parent::__construct($path);
    }

    public function getName()
    {
        return $this->name ?? parent::getName();
    }

    public function getETag()
    {
        return '"' . Table::node(place($this->path))['etag'] . '"';
    }

    public function getChild($name)
    {
        $path = "$this->path/$name";
        clearstatcache();
        if ($name === '.' || $name === '..' || !file_exists($path)) {
            throw new DAV\Exception\NotFound("File with name /$name could not be located");
        }
        return is_dir($path) ? new Folder($path) : new File($path);
    }

    public function createFile($name, $data = null)
    {
        if ($name === '.htaccess') {
            // As Nextcloud answers to names that it keeps for itself: 500.
            throw new DAV\Exception('Could not write file contents');
        }
        store("$this->path/$name", $data);
        return (new File("$this->path/$name"))->getETag();
    }

    public function createDirectory($name)
    {
        if (!@mkdir("$this->path/$name")) {
            throw new DAV\Exception\MethodNotAllowed('The resource you tried to create already exists');
        }
        Table::touch(place("$this->path/$name"));
    }

    public function getQuotaInfo()
    {
        // sabre asks once for each of the two, and other requests write meanwhile.
        static $used = null;
        $used ??= size(getenv('DAV_DIR') . '/data');
        return [$used, max(0, quota() - $used)];
    }
}

/** Bytes that a person may have; -3 is Nextcloud's word for no limit, and here a lot. */
function quota(): int
{
    $file = getenv('DAV_DIR') . '/quota';
    return is_file($file) ? (int) file_get_contents($file) : 1 << 40;
}

/** Writes a file whole, as Nextcloud does: as a part file that is renamed. */
function store(string $path, $data): void
{
    global $server;
    $part = getenv('DAV_DIR') . '/tmp/' . bin2hex(random_bytes(8));
    $count = file_put_contents($part, $data ?? '');
    $length = $server->httpRequest->getHeader('Content-Length');
    if ($server->httpRequest->getMethod() === 'PUT' && $length !== null && (int) $length !== $count) {
        unlink($part);
        throw new DAV\Exception\BadRequest("Expected filesize of $length bytes but read and wrote $count bytes");
    }
    if (is_file(getenv('DAV_DIR') . '/quota') && size(getenv('DAV_DIR') . '/data') + $count > quota()) {
        unlink($part);
        throw new DAV\Exception\InsufficientStorage('Insufficient space');
    }
    $mtime = $server->httpRequest->getHeader('X-OC-Mtime');
    if ($mtime !== null) {
        touch($part, (int) $mtime);
        $server->httpResponse->setHeader('X-OC-MTime', 'accepted');
    }
    rename($part, $path);
    Table::touch(place($path));
    Table::run('UPDATE node SET checksum = ? WHERE path = ?', [$server->httpRequest->getHeader('OC-Checksum'), place($path)]);
    $node = Table::node(place($path));
    $server->httpResponse->setHeader('OC-FileId', sprintf('%08docfixture', $node['id']));
    $server->httpResponse->setHeader('OC-ETag', "\"{$node['etag']}\"");
}

/** Chunks are files of a folder; `.file` is what they will be. */
class Upload extends DAV\FS\Directory
{
    public function getChild($name)
    {
        if ($name === '.file') {
            return new FutureFile($this->path);
        }
        if (!is_file("$this->path/$name")) {
            throw new DAV\Exception\NotFound("There is no chunk $name");
        }
        return new DAV\FS\File("$this->path/$name");
    }

    public function childExists($name)
    {
        return $name === '.file' || parent::childExists($name);
    }

    public function getChildren()
    {
        return array_merge(parent::getChildren(), [new FutureFile($this->path)]);
    }

    public function createFile($name, $data = null)
    {
        global $server;
        $count = file_put_contents("$this->path/$name.part", $data);
        if ($count !== (int) $server->httpRequest->getHeader('Content-Length')) {
            unlink("$this->path/$name.part");
            throw new DAV\Exception\BadRequest('The chunk is not whole');
        }
        rename("$this->path/$name.part", "$this->path/$name");
    }

    public function delete()
    {
        array_map('unlink', glob("$this->path/*"));
        rmdir($this->path);
    }
}

class FutureFile extends DAV\File
{
    public function __construct(private string $path)
    {
    }

    public function getName()
    {
        return '.file';
    }

    public function chunks(): array
    {
        $names = array_map('basename', glob("$this->path/*"));
        natsort($names);
        return array_map(fn ($name) => "$this->path/$name", array_values($names));
    }

    public function getSize()
    {
        return array_sum(array_map('filesize', $this->chunks()));
    }

    public function get()
    {
        throw new DAV\Exception\MethodNotAllowed('Reading intermediate uploads is not allowed');
    }
}

class Uploads extends DAV\FS\Directory
{
    public function getName()
    {
        return 'user';
    }

    public function getChild($name)
    {
        if (!is_dir("$this->path/$name")) {
            throw new DAV\Exception\NotFound("There is no upload $name");
        }
        return new Upload("$this->path/$name");
    }
}

class Tree extends DAV\ObjectTree
{
    private function file(string $path): string
    {
        return getenv('DAV_DIR') . '/data' . substr($path, strlen('files/user'));
    }

    public function delete($path)
    {
        global $server;
        if (!str_starts_with($path, 'files/user/')) {
            parent::delete($path);
            return;
        }
        $this->getNodeForPath($path);
        $isForGood = strtolower((string) $server->httpRequest->getHeader('X-NC-Skip-Trashbin')) === 'true';
        $trash = getenv('DAV_DIR') . ($isForGood ? '/tmp/' : '/trash/') . basename($path) . '.d' . hrtime(true);
        rename($this->file($path), $trash);
        if ($isForGood) {
            exec('rm -rf -- ' . escapeshellarg($trash));
        }
        Table::remove(place($this->file($path)));
        Table::touch(dirname(place($this->file($path))) === '/' ? '' : dirname(place($this->file($path))));
        $this->markDirty($path);
    }

    public function move($source, $target)
    {
        [$from, $to] = [$this->file($source), $this->file($target)];
        if (!@rename($from, $to)) {
            throw new DAV\Exception\NotFound('The source is gone');
        }
        Table::move(place($from), place($to));
        foreach ([$source, $target] as $path) {
            $folder = dirname(place($this->file($path)));
            Table::touch($folder === '/' ? '' : $folder);
        }
        $this->markDirty($source);
        $this->markDirty($target);
    }
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);

// The login flow: whoever opens the page of a flow has said yes.
if (str_starts_with($path, '/telling/') || str_starts_with($path, '/login/v2') || str_starts_with($path, '/index.php/login/v2')) {
    $base = 'http://' . $_SERVER['HTTP_HOST'];
    header('Content-Type: application/json');
    if (str_ends_with($path, '/poll')) {
        $token = preg_replace('/[^a-f0-9]/', '', $_POST['token'] ?? '');
        $flow = "$dir/tmp/flow-$token";
        if ($token === '' || !is_file($flow) || file_get_contents($flow) !== 'granted') {
            http_response_code(404);
            echo '[]';
            return;
        }
        unlink($flow);
        echo json_encode(['server' => $base, 'loginName' => 'user', 'appPassword' => 'pass']);
    } elseif (str_contains($path, '/flow/')) {
        header('Content-Type: text/html');
        // As in Nextcloud, the page has a token of its own, which does not fetch the password.
        $page = "$dir/tmp/page-" . preg_replace('/[^a-f0-9]/', '', basename($path));
        if (is_file($page)) {
            file_put_contents("$dir/tmp/flow-" . file_get_contents($page), 'granted');
        }
        echo '<html>Account connected</html>';
    } else {
        $token = bin2hex(random_bytes(32));
        file_put_contents("$dir/tmp/flow-$token", 'waiting');
        $page = str_contains($path, '/telling/') ? $token : bin2hex(random_bytes(32));
        file_put_contents("$dir/tmp/page-$page", $token);
        echo json_encode([
            'poll' => ['token' => $token, 'endpoint' => "$base/login/v2/poll"], 'login' => "$base/login/v2/flow/$page",
        ]);
    }
    return;
}

if (($_SERVER['PHP_AUTH_USER'] ?? '') !== 'user' || ($_SERVER['PHP_AUTH_PW'] ?? '') !== 'pass') {
    http_response_code(401);
    header('WWW-Authenticate: Basic realm="Nextcloud"');
    return;
}

$tree = new Tree(new DAV\SimpleCollection('root', [
    new DAV\SimpleCollection('files', [new Folder("$dir/data", 'user')]),
    new DAV\SimpleCollection('uploads', [new Uploads("$dir/uploads")]),
]));
$server = new DAV\Server($tree);
$server->setBaseUri('/remote.php/dav/');
$server->subscribeEvent('beforeMethod', function ($method, $uri) use ($server, $dir) {
    if ($method === 'DELETE' || $method === 'MOVE') {
        $match = $server->httpRequest->getHeader('If-Match');
        if ($match !== null && $match !== '*' && $server->tree->nodeExists($uri) && $server->tree->getNodeForPath($uri) instanceof DAV\ICollection) {
            // As sabre/dav 4 does: folders have no ETag in preconditions, though PROPFIND tells one.
            throw new DAV\Exception\PreconditionFailed('An If-Match header was specified, but none of the specified ETags matched.', 'If-Match');
        }
        $server->checkPreconditions();
    }
    if ($method !== 'MOVE' || !str_ends_with($uri, '/.file')) {
        return true;
    }
    // The chunks become the file, which stays the same where there is one.
    $source = $server->tree->getNodeForPath($uri);
    $target = $server->calculateUri($server->httpRequest->getHeader('Destination'));
    $file = "$dir/data" . substr($target, strlen('files/user'));
    $there = is_file($file);
    $if = $server->httpRequest->getHeader('If');
    if ($if !== null && preg_match('/^<([^>]*)> \(\["([^"]*)"\]\)$/', $if, $test)) {
        // As sabre/dav 4 does: of the named resource, which has to exist.
        $named = "$dir/data" . substr($server->calculateUri($test[1]), strlen('files/user'));
        if (!is_file($named)) {
            throw new DAV\Exception\NotFound('File with name ' . basename($named) . ' could not be located');
        }
        if (Table::node(place($named))['etag'] !== $test[2]) {
            throw new DAV\Exception\PreconditionFailed('Failed to find a valid token/etag combination for ' . basename($named), 'If');
        }
    }
    if ($there && $server->httpRequest->getHeader('Overwrite') === 'F') {
        throw new DAV\Exception\PreconditionFailed('The destination node already exists, and the overwrite header is set to false', 'Overwrite');
    }
    $total = $server->httpRequest->getHeader('OC-Total-Length');
    if ($total !== null && $total !== (string) $source->getSize()) {
        throw new DAV\Exception\BadRequest("Chunks on server do not sum up to $total but to {$source->getSize()} bytes");
    }
    if (!is_dir(dirname($file))) {
        throw new DAV\Exception\Conflict('The destination node is not found');
    }
    $whole = fopen('php://temp/maxmemory:67108864', 'r+');
    foreach ($source->chunks() as $chunk) {
        stream_copy_to_stream(fopen($chunk, 'r'), $whole);
    }
    rewind($whole);
    store($file, $whole);
    $server->tree->getNodeForPath(dirname($uri))->delete();
    $server->httpResponse->setHeader('Content-Length', '0');
    $server->httpResponse->sendStatus($there ? 204 : 201);
    return false;
});
$server->exec();
