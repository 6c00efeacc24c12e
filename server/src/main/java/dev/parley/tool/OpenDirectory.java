package dev.parley.tool;

import dev.parley.tool.WorkingDirectory.FileRejectedException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// An open folder. All operations use this folder, even if its path leads somewhere else by now.
/// Symbolic links are never followed.
///
/// If Java cannot keep folders open on a system (it can on Linux), files are opened by path, and
/// before anything is returned the path is checked again.
///
/// For one thread.
final class OpenDirectory implements AutoCloseable {

  private static final Set<OpenOption> READ =
      Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);

  private final DirectoryStream<Path> stream;
  private final Path path;

  private OpenDirectory(DirectoryStream<Path> stream, Path path) {
    this.stream = stream;
    this.path = path;
  }

  /// Opens a folder that is not replaced while the server runs.
  @SuppressWarnings("StreamResourceLeak") // The caller closes it.
  static OpenDirectory open(Path path) throws IOException {
    return new OpenDirectory(Files.newDirectoryStream(path), path);
  }

  /// Opens a folder in this one.
  ///
  /// @throws IOException if it is missing, not a folder, or a link
  @SuppressWarnings("StreamResourceLeak") // The caller closes it.
  OpenDirectory open(String name) throws IOException {
    var child = path.resolve(name);
    var secure = secure();
    if (secure != null) {
      var inside = child.getFileSystem().getPath(name);
      return new OpenDirectory(secure.newDirectoryStream(inside, LinkOption.NOFOLLOW_LINKS), child);
    }
    if (!Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
      throw new NotDirectoryException(name);
    }
    var held = new OpenDirectory(Files.newDirectoryStream(child), child);
    held.check();
    return held;
  }

  /// The names of the entries, up to `max`. Can be called once.
  List<String> names(int max) throws IOException {
    var names = new ArrayList<String>();
    try {
      for (var entries = stream.iterator(); entries.hasNext() && names.size() < max; ) {
        names.add(String.valueOf(entries.next().getFileName()));
      }
    } catch (DirectoryIteratorException failed) {
      throw failed.getCause();
    }
    check();
    return names;
  }

  /// The attributes of an entry.
  BasicFileAttributes attributes(String name) throws IOException {
    var secure = secure();
    var child = path.resolve(name);
    if (secure != null) {
      var inside = child.getFileSystem().getPath(name);
      return secure
          .getFileAttributeView(inside, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
          .readAttributes();
    }
    var attributes =
        Files.readAttributes(child, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    check();
    return attributes;
  }

  /// The identity of this folder, independent of its name; null if the file system has none.
  @Nullable Object key() throws IOException {
    var secure = secure();
    return secure == null
        ? Files.readAttributes(path, BasicFileAttributes.class).fileKey()
        : secure.getFileAttributeView(BasicFileAttributeView.class).readAttributes().fileKey();
  }

  /// The first `max` bytes of a file in this folder.
  byte[] read(String name, int max) throws IOException {
    byte[] bytes;
    try (var input = input(name)) {
      bytes = input.readNBytes(max);
    }
    check();
    return bytes;
  }

  private InputStream input(String name) throws IOException {
    var secure = secure();
    var child = path.resolve(name);
    SeekableByteChannel channel =
        secure == null
            ? Files.newByteChannel(child, READ)
            : secure.newByteChannel(child.getFileSystem().getPath(name), READ);
    return Channels.newInputStream(channel);
  }

  /// The stream by which files can be written and moved.
  SecureDirectoryStream<Path> writable() throws FileRejectedException {
    var secure = secure();
    if (secure == null) {
      throw new FileRejectedException("files cannot be written safely on this system");
    }
    return secure;
  }

  Path path() {
    return path;
  }

  private @Nullable SecureDirectoryStream<Path> secure() {
    return stream instanceof SecureDirectoryStream<Path> secure ? secure : null;
  }

  /// Rejects a folder that cannot be kept open and that its path no longer leads to.
  private void check() throws IOException {
    if (secure() == null && !path.toRealPath().equals(path)) {
      throw new FileRejectedException("the folder was replaced meanwhile");
    }
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
