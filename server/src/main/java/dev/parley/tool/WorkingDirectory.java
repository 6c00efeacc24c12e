package dev.parley.tool;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The working directory of tools. No path can lead out of it: not by `..`, a symbolic link or an
/// absolute path. The data folder of the server is not accessible either.
///
/// A path is first resolved, and then opened step by step from the workspace on, without following
/// links. So if a part of the path is replaced by a link meanwhile, the access fails.
///
/// For one call of a tool.
final class WorkingDirectory {

  /// The maximum number of server files that are compared to recognize a hard link to one of them.
  private static final int OWN_FILES_MAX = 10_000;

  private static final int OWN_DEPTH_MAX = 4;

  private final Path root;
  private final Path base;
  private final @Nullable Path own;
  private @Nullable Set<Object> ownFiles;

  WorkingDirectory(FileAccess access, ToolContext context) {
    this.root = context.workingDirectory();
    this.base = access.base(root);
    this.own = access.ownFolder();
  }

  /// The file or folder that `path` names, relative to the working directory and without symbolic
  /// links.
  Path find(String path) throws FileRejectedException {
    Path real;
    try {
      real = root.resolve(path).toRealPath();
    } catch (InvalidPathException unreadable) {
      throw new FileRejectedException("this is not a path: " + path);
    } catch (IOException missing) {
      throw new FileRejectedException("there is no such file: " + path);
    }
    if (!real.startsWith(root)) {
      // The same error as for a missing file, so that the existence of other files is not
      // disclosed.
      throw new FileRejectedException("there is no such file: " + path);
    }
    checkNotServerFile(real);
    return root.relativize(real);
  }

  /// The path of a file that exists or is to be created, relative to the working directory and
  /// without symbolic links.
  Path resolveTarget(String path) throws FileRejectedException {
    Path existing;
    try {
      existing = root.resolve(path).normalize();
    } catch (InvalidPathException unreadable) {
      throw new FileRejectedException("this is not a path: " + path);
    }
    var missing = new ArrayDeque<Path>();
    while (existing.getParent() != null && !Files.exists(existing, LinkOption.NOFOLLOW_LINKS)) {
      missing.push(existing.getFileName());
      existing = existing.getParent();
    }
    Path place;
    try {
      place = existing.toRealPath();
    } catch (IOException leadsNowhere) {
      throw outside(path);
    }
    for (var name : missing) {
      place = place.resolve(name);
    }
    if (!place.startsWith(root)) {
      throw outside(path);
    }
    checkNotServerFile(place);
    if (place.equals(root)) {
      throw new FileRejectedException("this is not a file: " + path);
    }
    return root.relativize(place);
  }

  private static FileRejectedException outside(String path) {
    return new FileRejectedException(
        "only files in the working directory can be written, not " + path);
  }

  /// Opens the folder with this relative path, which contains no links.
  OpenDirectory open(Path folder) throws IOException {
    return open(steps(folder), false);
  }

  /// Opens the parent folder of a file; with `make`, creates it if it is missing.
  OpenDirectory openParent(Path file, boolean make) throws IOException {
    var steps = steps(file);
    return open(steps.subList(0, steps.size() - 1), make);
  }

  private List<String> steps(Path path) {
    var steps = new ArrayList<String>();
    base.relativize(root.resolve(path)).forEach(step -> steps.add(step.toString()));
    steps.removeIf(String::isEmpty);
    return steps;
  }

  private OpenDirectory open(List<String> steps, boolean make) throws IOException {
    var held = OpenDirectory.open(base);
    try {
      checkNotServerFile(held);
      for (var step : steps) {
        var next = make ? WritableFile.openOrCreate(held, step) : held.open(step);
        held.close();
        held = next;
        checkNotServerFile(held);
      }
      return held;
    } catch (IOException failed) {
      held.close();
      throw failed;
    }
  }

  /// The bytes of the file with this relative path.
  byte[] read(Path file) throws IOException {
    if (file.toString().isEmpty()) {
      throw new FileRejectedException("this is not a file: .");
    }
    var name = String.valueOf(file.getFileName());
    try (var held = openParent(file, false)) {
      var attributes = held.attributes(name);
      if (!attributes.isRegularFile()) {
        throw new FileRejectedException("this is not a file: " + displayName(file));
      }
      checkNotServerFile(attributes.fileKey());
      var bytes = held.read(name, TextFile.BYTES_MAX + 1);
      if (bytes.length > TextFile.BYTES_MAX) {
        throw new FileRejectedException(
            "the file is larger than " + TextFile.BYTES_MAX / 1024 / 1024 + " MiB: " + name);
      }
      return bytes;
    }
  }

  private void checkNotServerFile(Path real) throws FileRejectedException {
    if (own != null && real.startsWith(own)) {
      throw ownedByServer();
    }
  }

  private void checkNotServerFile(OpenDirectory held) throws IOException {
    if (isServerFolder(held)) {
      throw ownedByServer();
    }
  }

  /// True if this is the data folder of the server, under any name.
  boolean isServerFolder(OpenDirectory held) throws IOException {
    return isServerFolder(held.key());
  }

  /// True if these are the attributes of the data folder of the server.
  boolean isServerFolder(BasicFileAttributes folder) {
    return isServerFolder(folder.fileKey());
  }

  private boolean isServerFolder(@Nullable Object key) {
    return own != null && key != null && key.equals(key(own));
  }

  /// Rejects a hard link to a file of the server.
  void checkNotServerFile(@Nullable Object fileKey) throws IOException {
    if (own == null || fileKey == null) {
      return;
    }
    if (ownFiles == null) {
      ownFiles = ownFiles(own);
    }
    if (ownFiles.contains(fileKey)) {
      throw ownedByServer();
    }
  }

  private static FileRejectedException ownedByServer() {
    return new FileRejectedException("files of the server itself cannot be read or written");
  }

  private static Set<Object> ownFiles(Path own) throws IOException {
    var keys = new HashSet<>();
    Files.walkFileTree(
        own,
        Set.of(),
        OWN_DEPTH_MAX,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (attributes.fileKey() != null) {
              keys.add(attributes.fileKey());
            }
            return keys.size() < OWN_FILES_MAX
                ? FileVisitResult.CONTINUE
                : FileVisitResult.TERMINATE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException gone) {
            return FileVisitResult.CONTINUE;
          }
        });
    return keys;
  }

  private static @Nullable Object key(Path path) {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    } catch (IOException gone) {
      return null;
    }
  }

  /// The path as shown to the model.
  String displayName(Path path) {
    return path.toString().replace('\\', '/');
  }

  /// A path cannot be accessed. The message is written for the model.
  static final class FileRejectedException extends IOException {
    private static final long serialVersionUID = 1L;

    FileRejectedException(String message) {
      super(message);
    }
  }
}
