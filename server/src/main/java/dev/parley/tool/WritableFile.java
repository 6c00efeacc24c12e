package dev.parley.tool;

import dev.parley.tool.WorkingDirectory.FileRejectedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;

/// A file to write in the working directory; it may not exist yet.
///
/// Its folder is open, reached from the working directory step by step without following links. If
/// a part of the path is replaced by a link meanwhile, the file is still written to the open
/// folder. There is one exception: Java cannot create a folder inside an open one, so a replacement
/// at the right moment can create an empty folder outside; nothing is ever written to it.
///
/// For one thread.
final class WritableFile implements AutoCloseable {

  private static final Set<PosixFilePermission> WRITABLE =
      PosixFilePermissions.fromString("-w--w--w-");
  private static final Set<StandardOpenOption> NEW =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

  private final WorkingDirectory scope;
  private final OpenDirectory held;
  private final SecureDirectoryStream<Path> folder;
  private final Path name;
  private final Optional<PosixFileAttributes> attributes;

  private WritableFile(WorkingDirectory scope, OpenDirectory held, Path name) throws IOException {
    this.scope = scope;
    this.held = held;
    this.folder = held.writable();
    this.name = name;
    this.attributes = attributes();
  }

  /// The file with this relative path, which contains no links.
  ///
  /// @throws NoSuchFileException if a folder is missing and `makeFolders` is false
  static WritableFile open(WorkingDirectory scope, Path path, boolean makeFolders)
      throws IOException {
    var held = scope.openParent(path, makeFolders);
    try {
      return new WritableFile(scope, held, path.getFileName());
    } catch (IOException failed) {
      held.close();
      throw failed;
    }
  }

  /// Opens a folder in `held`, and creates it if it is missing.
  static OpenDirectory openOrCreate(OpenDirectory held, String step) throws IOException {
    try {
      return held.open(step);
    } catch (NoSuchFileException missing) {
      try {
        Files.createDirectory(held.path().resolve(step));
      } catch (FileAlreadyExistsException madeMeanwhile) {
        // The result is checked when it is opened.
      }
      return held.open(step);
    }
  }

  /// The content; empty if the file does not exist.
  Optional<byte[]> content() throws IOException {
    if (attributes.isEmpty()) {
      return Optional.empty();
    }
    check(attributes.get());
    var options = Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
    try (var channel = folder.newByteChannel(name, options)) {
      if (channel.size() > TextFile.BYTES_MAX) {
        throw new FileRejectedException(
            "the file is larger than " + TextFile.BYTES_MAX / 1024 / 1024 + " MiB: " + name);
      }
      var buffer = ByteBuffer.allocate((int) channel.size());
      while (buffer.hasRemaining() && channel.read(buffer) >= 0) {}
      return Optional.of(java.util.Arrays.copyOf(buffer.array(), buffer.position()));
    }
  }

  /// Replaces the content atomically: a reader sees the old content or the new. The permissions are
  /// kept. `key` names the attempt, so that the file of a crashed attempt is reused.
  void replace(byte[] content, String key) throws IOException {
    if (attributes.isPresent()) {
      check(attributes.get());
      if (attributes.get().permissions().stream().noneMatch(WRITABLE::contains)) {
        throw new FileRejectedException("the file is read-only: " + name);
      }
    }
    var draft = Path.of(".parley-" + HexFormat.of().toHexDigits(key.hashCode()) + ".tmp");
    var done = false;
    try {
      write(draft, content);
      if (attributes.isPresent()) {
        keepOwner(draft, attributes.get());
      }
      folder.move(draft, folder, name);
      done = true;
    } finally {
      if (!done) {
        delete(draft);
      }
    }
  }

  private void write(Path draft, byte[] content) throws IOException {
    try (var channel = create(draft)) {
      var buffer = ByteBuffer.wrap(content);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      if (channel instanceof FileChannel file) {
        file.force(true);
      }
    }
  }

  private SeekableByteChannel create(Path draft) throws IOException {
    var like =
        attributes
            .map(old -> PosixFilePermissions.asFileAttribute(old.permissions()))
            .map(permissions -> new FileAttribute<?>[] {permissions})
            .orElseGet(() -> new FileAttribute<?>[0]);
    try {
      return folder.newByteChannel(draft, NEW, like);
    } catch (FileAlreadyExistsException leftByCrash) {
      delete(draft);
      return folder.newByteChannel(draft, NEW, like);
    }
  }

  private void keepOwner(Path draft, PosixFileAttributes old) throws IOException {
    var view = view(draft);
    try {
      var now = view.readAttributes();
      if (!now.group().equals(old.group())) {
        view.setGroup(old.group());
      }
      if (!now.owner().equals(old.owner())) {
        view.setOwner(old.owner());
      }
    } catch (FileSystemException notOurs) {
      // Only root may change the owner; otherwise the file belongs to this user.
    }
    // Last, because the umask of the process may have removed some permissions.
    view.setPermissions(old.permissions());
  }

  private Optional<PosixFileAttributes> attributes() throws IOException {
    try {
      return Optional.of(view(name).readAttributes());
    } catch (NoSuchFileException missing) {
      return Optional.empty();
    }
  }

  private PosixFileAttributeView view(Path file) {
    return folder.getFileAttributeView(
        file, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
  }

  private void check(PosixFileAttributes found) throws IOException {
    if (!found.isRegularFile()) {
      throw new FileRejectedException("this is not a file: " + name);
    }
    scope.checkNotServerFile(found.fileKey());
  }

  private void delete(Path draft) throws IOException {
    try {
      folder.deleteFile(draft);
    } catch (NoSuchFileException gone) {
      // It was moved or never created.
    }
  }

  @Override
  public void close() throws IOException {
    held.close();
  }

  /// The reason why a file could not be written, for the model, without absolute paths.
  static String reason(String path, IOException failure) {
    return switch (failure) {
      case FileRejectedException fileRejectedException ->
          String.valueOf(fileRejectedException.getMessage());
      case AccessDeniedException _ -> "the file may not be written: " + path;
      case NotDirectoryException _ -> "a part of this path is a file, not a folder: " + path;
      case NoSuchFileException _ -> "there is no such file: " + path;
      default -> "the file cannot be written: " + path;
    };
  }
}
