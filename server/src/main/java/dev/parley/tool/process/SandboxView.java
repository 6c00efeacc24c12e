package dev.parley.tool.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/// The files that an isolated program sees: a list of mounts, each of which may cover a part of the
/// earlier ones. Everything else does not exist for the program.
record SandboxView(Path folder, List<SandboxMount> mounts) {

  /// A part of the view, at `path`.
  sealed interface SandboxMount {
    Path path();

    /// A file or folder of the machine.
    record BoundPath(Path source, Path path, boolean writable, boolean folder)
        implements SandboxMount {}

    /// A private folder, which is empty at the start and can be written to.
    record PrivateFolder(Path path) implements SandboxMount {}

    /// A file or folder that looks empty and cannot be written to.
    record HiddenPath(Path path, boolean folder) implements SandboxMount {}
  }

  /// The paths that the server hides from programs: `own` from every program, `workspaces` from
  /// those that do not work in them.
  record HiddenPaths(List<Path> own, List<Path> workspaces) {
    HiddenPaths {
      own = List.copyOf(own);
      workspaces = List.copyOf(workspaces);
    }
  }

  private static final Path ROOT = Path.of("/");

  /// The programs and libraries of the system.
  private static final List<Path> SYSTEM =
      Stream.of(
              "/usr",
              "/bin",
              "/sbin",
              "/lib",
              "/lib32",
              "/lib64",
              "/libx32",
              "/nix/store",
              "/gnu/store")
          .map(Path::of)
          .toList();

  /// The files in `/etc` that programs need. Others, such as those of other services, may contain
  /// secrets.
  private static final Set<String> SETTINGS =
      Set.of(
          "alternatives",
          "bash.bashrc",
          "ca-certificates",
          "crypto-policies",
          "environment",
          "fonts",
          "gai.conf",
          "gitconfig",
          "group",
          "host.conf",
          "hosts",
          "inputrc",
          "java-21-openjdk",
          "java-25-openjdk",
          "ld.so.cache",
          "ld.so.conf",
          "ld.so.conf.d",
          "locale.alias",
          "locale.conf",
          "localtime",
          "magic",
          "manpath.config",
          "mime.types",
          "nsswitch.conf",
          "os-release",
          "passwd",
          "perl",
          "pki",
          "profile",
          "protocols",
          "python3",
          "resolv.conf",
          "services",
          "shells",
          "ssl",
          "terminfo",
          "timezone");

  /// Certificates are public, but keys may be next to them.
  private static final List<Path> PRIVATE_SETTINGS =
      List.of(Path.of("/etc/ssl/private"), Path.of("/etc/pki/tls/private"));

  private static final List<Path> TEMPORARY = List.of(Path.of("/tmp"), Path.of("/var/tmp"));

  /// The parts of `/proc` by which root could change the system, as far as they exist.
  static final List<Path> READ_ONLY_PROC =
      Stream.of("sys", "sysrq-trigger", "irq", "bus")
          .map(name -> Path.of("/proc", name))
          .filter(Files::exists)
          .toList();

  SandboxView {
    mounts = List.copyOf(mounts);
  }

  /// The view of a program.
  ///
  /// @throws IOException if its folder cannot be shown without showing the whole system
  static SandboxView of(SandboxedProgram command, HiddenPaths hidden) throws IOException {
    return new Builder(command, hidden).view();
  }

  /// Adds the mounts in their order.
  private static final class Builder {
    private final SandboxedProgram command;
    private final HiddenPaths hidden;
    private final Path folder;
    private final List<SandboxMount> mounts = new ArrayList<>();

    Builder(SandboxedProgram command, HiddenPaths hidden) throws IOException {
      this.command = command;
      this.hidden = hidden;
      this.folder = command.folder().toRealPath();
    }

    SandboxView view() throws IOException {
      if (SYSTEM.stream().anyMatch(path -> path.startsWith(folder))) {
        throw new IOException(
            "the folder "
                + folder
                + " contains the programs of the system, so a program in it cannot be isolated; use"
                + " another folder");
      }
      SYSTEM.forEach(path -> bind(path, false));
      SETTINGS.stream().sorted().map(Path.of("/etc")::resolve).forEach(path -> bind(path, false));
      PRIVATE_SETTINGS.forEach(this::hide);
      TEMPORARY.forEach(path -> mounts.add(new SandboxMount.PrivateFolder(path)));
      home().ifPresent(home -> mounts.add(new SandboxMount.PrivateFolder(home)));
      programs().forEach(path -> bind(path, false));
      var isolation = command.isolation();
      bind(folder, isolation.folderWritable());
      hidden.workspaces().stream()
          .flatMap(path -> real(path).stream())
          .filter(path -> !isolation.folderWritable() || !folder.startsWith(path))
          .filter(path -> !isolation.folderWritable() || !path.startsWith(folder))
          .forEach(this::hide);
      isolation.readable().forEach(path -> bind(path, false));
      isolation.writable().forEach(path -> bind(path, true));
      hidden.own().forEach(this::hide);
      return new SandboxView(folder, mounts);
    }

    /// Adds a path, if it exists.
    private void bind(Path path, boolean writable) {
      real(path)
          .ifPresent(
              real ->
                  mounts.add(
                      new SandboxMount.BoundPath(real, path, writable, Files.isDirectory(real))));
    }

    /// Hides a path wherever the view shows it.
    private void hide(Path path) {
      var real = real(path).orElse(null);
      if (real == null) {
        return;
      }
      var places = new LinkedHashSet<Path>();
      for (var mount : mounts) {
        if (mount instanceof SandboxMount.BoundPath bound && real.startsWith(bound.source())) {
          places.add(bound.path().resolve(bound.source().relativize(real)).normalize());
        }
      }
      var isFolder = Files.isDirectory(real);
      places.forEach(place -> mounts.add(new SandboxMount.HiddenPath(place, isFolder)));
    }

    private Optional<Path> home() {
      var home = command.environment().getOrDefault("HOME", "");
      var path = Path.of(home.isEmpty() ? "/" : home).normalize();
      return path.isAbsolute() && !path.equals(ROOT) && !isSystem(path)
          ? Optional.of(path)
          : Optional.empty();
    }

    /// The folders outside the system in which the program and those on its `PATH` are installed.
    private Set<Path> programs() {
      var found = new LinkedHashSet<Path>();
      for (var name : command.environment().getOrDefault("PATH", "").split(":", -1)) {
        var path = Path.of(name);
        if (path.isAbsolute()) {
          found.add(path);
          if (path.endsWith("bin") && path.getParent() != null) {
            found.add(path.resolveSibling("lib"));
          }
        }
      }
      ProgramPath.find(command.words().getFirst(), command.environment(), folder)
          .ifPresent(
              file -> {
                found.add(file.toAbsolutePath().normalize());
                real(file).map(Builder::installation).ifPresent(found::add);
              });
      found.removeIf(path -> isSystem(path) || showsTooMuch(path));
      return found;
    }

    /// The folder with the other files of a program.
    private static Path installation(Path program) {
      for (var i = 0; i < program.getNameCount(); i++) {
        if (program.getName(i).toString().equals("node_modules")) {
          return ROOT.resolve(program.subpath(0, i + 1));
        }
      }
      var parent = program.getParent();
      return parent == null ? program : parent;
    }

    private static boolean isSystem(Path path) {
      return SYSTEM.stream().anyMatch(path::startsWith);
    }

    /// True if a folder is not only that of a program: it contains the home folder, temporary files
    /// or the folder in which the program works.
    private boolean showsTooMuch(Path path) {
      return folder.startsWith(path)
          || TEMPORARY.stream().anyMatch(other -> other.startsWith(path))
          || home().filter(home -> home.startsWith(path)).isPresent();
    }

    private static Optional<Path> real(Path path) {
      try {
        return Optional.of(path.toRealPath());
      } catch (IOException missing) {
        return Optional.empty();
      }
    }
  }
}
