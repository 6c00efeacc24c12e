package dev.parley.tool;

import dev.parley.tool.Folder.OutOfReach;
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

/// A folder that is held open. What is opened, listed or looked at in it is in this folder, whatever its path leads to
/// by now. Symbolic links are never followed.
///
/// Where Java cannot hold folders open (it can on Linux), files are opened by their path, and it is checked afterwards,
/// before anything is returned, that the path still leads here.
///
/// For one thread.
final class HeldFolder implements AutoCloseable {

  private static final Set<OpenOption> READ =
      Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);

  private final DirectoryStream<Path> stream;
  private final Path path;

  private HeldFolder(DirectoryStream<Path> stream, Path path) {
    this.stream = stream;
    this.path = path;
  }

  /// Holds a folder that nobody exchanges.
  @SuppressWarnings("StreamResourceLeak") // Whoever holds it closes it.
  static HeldFolder open(Path path) throws IOException {
    return new HeldFolder(Files.newDirectoryStream(path), path);
  }

  /// Holds a folder in this one.
  ///
  /// @throws IOException if it is missing, or no folder, or a link
  @SuppressWarnings("StreamResourceLeak") // Whoever holds it closes it.
  HeldFolder open(String name) throws IOException {
    var child = path.resolve(name);
    var secure = secure();
    if (secure != null) {
      var inside = child.getFileSystem().getPath(name);
      return new HeldFolder(secure.newDirectoryStream(inside, LinkOption.NOFOLLOW_LINKS), child);
    }
    if (!Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
      throw new NotDirectoryException(name);
    }
    var held = new HeldFolder(Files.newDirectoryStream(child), child);
    held.check();
    return held;
  }

  /// The names of what is in it, at most so many. Can be asked for once.
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

  /// What is known of a file or folder in it.
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

  /// What this folder is known by, whatever its name; null where the system has nothing like that.
  @Nullable Object key() throws IOException {
    var secure = secure();
    return secure == null
        ? Files.readAttributes(path, BasicFileAttributes.class).fileKey()
        : secure.getFileAttributeView(BasicFileAttributeView.class).readAttributes().fileKey();
  }

  /// The first bytes of a file in it.
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

  /// What files can be written in, and moved.
  SecureDirectoryStream<Path> writable() throws OutOfReach {
    var secure = secure();
    if (secure == null) {
      throw new OutOfReach("files cannot be written safely on this system");
    }
    return secure;
  }

  Path path() {
    return path;
  }

  private @Nullable SecureDirectoryStream<Path> secure() {
    return stream instanceof SecureDirectoryStream<Path> secure ? secure : null;
  }

  /// Refuses a folder that is not held, and that its path no longer leads to.
  private void check() throws IOException {
    if (secure() == null && !path.toRealPath().equals(path)) {
      throw new OutOfReach("the folder was exchanged meanwhile");
    }
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
