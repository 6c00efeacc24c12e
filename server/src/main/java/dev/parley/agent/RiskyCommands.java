package dev.parley.agent;

import static java.util.Map.entry;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/// Programs that can run other programs or write files, depending on their arguments: a rule with
/// `*` does not allow such arguments.
///
/// The list is long, but not complete: see "What a rule can and cannot guarantee" in the guide to
/// tools.
final class RiskyCommands {

  /// Programs whose arguments contain or name what they run. Every argument must be in the rule.
  private static final Set<String> RUNNERS =
      ShellLineParser.words(
          """
          alias ansible ansible-playbook ant apt apt-get ash at awk bash batch bazel bind brew
          builtin bundle busybox c++ cc chroot chrt clang clang++ cmake command complete composer
          coproc crontab csh dash dc declare dnf doas easy_install ed emacs enable entr env eval
          ex exec expect export fish flock ftp g++ gawk gcc gdb gem gmake gnuplot hash ionice irb
          just ksh ld less lldb ltrace m4 make man mapfile mawk mksh more msbuild nano nawk nc
          ncat nice ninja nix nmap nohup nox npx nsenter openssl parallel pdb pico pkexec proot
          psql mysql sqlite3 rake rbash readarray rlwrap rsh runuser sbt scp screen script sed
          gsed service set setarch setsid sftp sh socat source . split csplit ssh ssh-agent
          start-stop-daemon stdbuf strace su sudo systemctl systemd-run task taskset tclsh tcsh
          tee telnet time timeout tmux tox toybox trap typeset uvx unshare valgrind vi view vim
          nvim visudo watch wish xargs xterm yum zsh let readonly local jobs compgen fc history ldd
          pandoc wget
          """);

  /// Programs that run a file, or code in an argument.
  private static final Pattern INTERPRETER =
      Pattern.compile(
          "(python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|java|jshell|groovy|scala|kotlin|"
              + "clojure|clj|julia|R|Rscript|osascript|pwsh|powershell|tsx|ts-node|elixir|erl|ghc|runghc|"
              + "swift|racket|guile|sbcl|octave|dotnet|mono|wine|qemu|bc)[0-9.]*");

  /// Arguments that are always allowed for an interpreter.
  private static final Set<String> VERSION = Set.of("--version", "-version", "-V", "--help");

  private static final Set<String> GIT_READING =
      ShellLineParser.words(
          """
          status log diff show rev-parse ls-files ls-tree describe blame annotate shortlog
          cat-file name-rev rev-list merge-base for-each-ref count-objects diff-tree diff-index
          diff-files show-ref cherry check-ignore check-attr grep version --version
          """);

  /// Sub-commands that only read; others must be in the rule.
  private static final Map<String, Set<String>> READING_SUBCOMMANDS =
      Map.ofEntries(
          entry("git", GIT_READING),
          entry("hg", Set.of("status", "log", "diff", "annotate", "branches", "tags", "version")),
          entry("svn", Set.of("status", "log", "diff", "info", "blame", "list")),
          entry("docker", Set.of("ps", "images", "version", "info", "inspect", "top", "port")),
          entry("podman", Set.of("ps", "images", "version", "info", "inspect", "top", "port")),
          entry("kubectl", Set.of("get", "describe", "logs", "version", "explain", "top")),
          entry("helm", Set.of("list", "status", "history", "version")),
          entry("terraform", Set.of("version", "validate")),
          entry("gh", Set.of("status")),
          entry("npm", Set.of("ls", "list", "outdated", "view", "why", "--version", "-v")),
          entry("pnpm", Set.of("ls", "list", "outdated", "why", "--version", "-v")),
          entry("yarn", Set.of("list", "info", "why", "--version", "-v")),
          entry("pip", Set.of("list", "show", "freeze", "check", "--version")),
          entry("pip3", Set.of("list", "show", "freeze", "check", "--version")),
          entry("poetry", Set.of("show", "check", "--version")),
          entry("uv", Set.of("tree", "--version")),
          entry("cargo", Set.of("tree", "--version", "version")),
          entry("go", Set.of("version", "doc", "help")),
          entry("rustup", Set.of("show", "--version")),
          entry(
              "mvn",
              ShellLineParser.words(
                  """
                  validate compile test test-compile package verify clean -v --version -q -B -o -ntp -e
                  -DskipTests
                  """)),
          entry(
              "gradle",
              Set.of("tasks", "dependencies", "projects", "test", "build", "check", "-v")));

  /// Sub-commands that run what follows: all of it must be in the rule.
  private static final Set<String> RUNNING_SUBCOMMANDS =
      ShellLineParser.words(
          """
          run run-script rum urn x exec dlx generate tool eval shell ssh do create init
          install-test alias config submodule bisect filter-branch difftool mergetool foreach hook
          plugin extension cp attach debug proxy port-forward
          """);

  /// Options without a value that may precede a sub-command; others need approval.
  private static final Set<String> HARMLESS_OPTIONS =
      Set.of("--no-pager", "-P", "-q", "-B", "-o", "-ntp");

  /// Long options that run or write something, or read a file that does, for any program. Options
  /// that begin with one of these, and abbreviations of these, count too.
  private static final List<String> RISKY_LONG_OPTIONS =
      List.copyOf(
          ShellLineParser.words(
              """
              exec eval command cmd shell hook plugin pager editor program script preload rsh run
              upload-pack receive-pack ext-diff textconv output open-files-in-pager config template
              git-dir work-tree tool use-compress-program compress-program to-command
              checkpoint-action info-script new-volume-script pre hostname-bin rsync-path
              unzip-command remote-name upload-file dump-header cookie-jar trace stderr libcurl
              etag-save engine execute use-askpass set vettool init settings toolchains diff-cmd
              editor-cmd proxy-command wrapper specs overwrite in-place delete remove pinentry
              kubeconfig userconfig globalconfig prefix node-options log log-file profile-output
              diff-program manifest-path python python-executable cwd smtp-server write-out hsts
              alt-svc use-yarnrc pnpmfile global-pnpmfile
              """));

  /// Short options that write or run something, by program; they also count inside clusters.
  private static final Map<String, String> RISKY_SHORT_OPTIONS =
      Map.ofEntries(
          entry("sort", "oT"),
          entry("rg", ""),
          entry("fd", "xX"),
          entry("fdfind", "xX"),
          entry("curl", "oOKTDcJnw"),
          entry("wget", "eOoaiPN"),
          entry("tree", "oR"),
          entry("shuf", "o"),
          entry("iconv", "o"),
          entry("hg", "R"),
          entry("date", "sf"),
          entry("zip", "TOm"),
          entry("rsync", "e"),
          entry("yq", "is"),
          entry("file", "Cm"),
          entry("xmllint", "o"),
          entry("go", "o"),
          entry("npm", "Cg"),
          entry("docker", "vH"),
          entry("hostname", "bF"));

  /// Built-in commands of the shell that take names of variables.
  private static final Set<String> VARIABLE_BUILT_INS =
      Set.of(
          "printf",
          "test",
          "[",
          "unset",
          "read",
          "wait",
          "getopts",
          "let",
          "declare",
          "typeset",
          "local",
          "readonly",
          "export");

  private static final Set<String> RISKY_FIND_OPTIONS =
      Set.of("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-files0-from");

  private static final Pattern TAR_LIST = Pattern.compile("-?[vzjJaf]*t[vzjJaf]*");

  /// Variables that name code which shells and other programs run, or where they search for it.
  private static final Pattern DANGEROUS_VARIABLES =
      Pattern.compile(
          "(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PS[0-4]|PROMPT_COMMAND|IFS|PATH|CDPATH|SHELL|HOME|ZDOTDIR|"
              + "XDG_CONFIG_.*|LD_.*|DYLD_.*|GCONV_PATH|GIT_.*|SSH_ASKPASS|SUDO_ASKPASS|RSYNC_RSH|CVS_RSH|"
              + "(.*_)?(PAGER|EDITOR|VISUAL|BROWSER)|LESSOPEN|LESSCLOSE|MANOPT|TAR_OPTIONS|MAKEFLAGS|"
              + "PYTHON.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|NODE_(OPTIONS|PATH)|(?i:npm_config_.*)|(.*_)?JAVA_(TOOL_)?OPTIONS|"
              + "CLASSPATH|JAVA_HOME|MAVEN_.*|MVNW_.*|GRADLE_.*|CARGO.*|RUSTC.*|GOFLAGS|DOCKER_.*|KUBECONFIG|"
              + "EXINIT|VIMINIT|CC|CXX|LDFLAGS|TERMINFO|INPUTRC)(\\[[^]]*])?\\+?=.*",
          Pattern.DOTALL);

  /// Built-in commands of the shell that set variables for later commands.
  private static final Set<String> SETTING_COMMANDS =
      Set.of("export", "declare", "typeset", "local", "readonly");

  private RiskyCommands() {}

  /// True if the command may do more than the rule states, whose first `named` words are literal.
  static boolean exceedsRule(List<String> words, int named) {
    var program = ShellLineParser.base(words.getFirst());
    if (words.size() <= named) {
      return false;
    }
    if (RUNNERS.contains(program)) {
      return true;
    }
    if (INTERPRETER.matcher(program).matches()) {
      return words.size() != 2 || !VERSION.contains(words.get(1));
    }
    if (program.equals("tar") || program.equals("bsdtar") || program.equals("gtar")) {
      return !TAR_LIST.matcher(words.get(1)).matches()
          || words.stream().skip(2).anyMatch(word -> word.startsWith("-"));
    }
    if ((program.equals("uniq") || program.equals("xxd"))
        && words.stream().skip(1).filter(word -> !word.startsWith("-")).count() > 1) {
      return true;
    }
    var reading = READING_SUBCOMMANDS.get(program.replaceAll("w$", "").replaceAll("^mvnd$", "mvn"));
    if (reading != null && exceedsRule(words, named, reading)) {
      return true;
    }
    var letters =
        program.equals("git") ? gitLetters(words) : RISKY_SHORT_OPTIONS.getOrDefault(program, "");
    for (var i = Math.max(1, named); i < words.size(); i++) {
      if (isRisky(program, letters, words.get(i))) {
        return true;
      }
    }
    return false;
  }

  /// Short options that run something: for reading sub-commands of git, only the pager option of
  /// `grep`.
  private static String gitLetters(List<String> words) {
    return GIT_READING.contains(words.get(1)) ? "O" : "cOuxe";
  }

  /// The same for a program with sub-commands.
  private static boolean exceedsRule(List<String> words, int named, Set<String> reading) {
    var at = 1;
    while (at < words.size() && HARMLESS_OPTIONS.contains(words.get(at))) {
      at++;
    }
    if (at == words.size()) {
      return false;
    }
    var verb = words.get(at);
    if (RUNNING_SUBCOMMANDS.contains(verb)) {
      // The name of a script, or the action, must be in the rule: npm run test, git config --get.
      return named < at + 2;
    }
    var program = ShellLineParser.base(words.getFirst());
    if (program.startsWith("mvn") || program.startsWith("gradle")) {
      return words.stream().skip(Math.max(1, named)).anyMatch(word -> !reading.contains(word));
    }
    return named <= at && !reading.contains(verb);
  }

  private static boolean isRisky(String program, String risky, String word) {
    if (program.equals("find")) {
      return RISKY_FIND_OPTIONS.contains(word) || word.startsWith("-fprint");
    }
    if (evaluates(program, word)
        || (program.equals("go") && word.contains("-extld"))
        || (program.equals("hg") && word.startsWith("--rep"))) {
      return true;
    }
    var end = word.indexOf('=');
    if (word.startsWith("--")) {
      var name = word.substring(2, end < 0 ? word.length() : end);
      return !name.isEmpty()
          && RISKY_LONG_OPTIONS.stream()
              .anyMatch(
                  option ->
                      name.equals(option)
                          || name.startsWith(option + "-")
                          // Many programs accept abbreviations of an option.
                          || option.startsWith(name));
    }
    if (program.equals("git") && word.contains("::")) {
      // A transport that runs a program.
      return true;
    }
    if (word.startsWith("-") && word.length() > 1) {
      var letters = word.substring(1, end < 0 ? word.length() : end);
      return letters.chars().anyMatch(c -> risky.indexOf(c) >= 0)
          || RISKY_LONG_OPTIONS.stream()
              .anyMatch(option -> option.length() > 3 && letters.startsWith(option));
    }
    return false;
  }

  /// True if a built-in command of the shell may run code in the subscript of a name: `test -v
  /// 'a[$(x)]'`.
  static boolean evaluates(String program, String word) {
    return VARIABLE_BUILT_INS.contains(program)
        && word.indexOf('[') >= 0
        && (word.indexOf('$') >= 0 || word.indexOf('`') >= 0);
  }

  /// True for an assignment that may make a program run something that is not in its command line:
  /// `BASH_ENV=x bash -c true`.
  static boolean isDangerousAssignment(String word) {
    return DANGEROUS_VARIABLES.matcher(word).matches();
  }

  /// True if the command sets such a variable for later commands.
  static boolean setsDangerousVariable(String program, List<String> words) {
    return SETTING_COMMANDS.contains(program)
        && words.stream().anyMatch(RiskyCommands::isDangerousAssignment);
  }

  /// True if the program receives code in another language than that of the shell.
  static boolean runsCode(String program, List<String> words) {
    return words.size() > 1
        && (INTERPRETER.matcher(program).matches()
            || Set.of("awk", "gawk", "mawk", "nawk", "expect", "tclsh").contains(program))
        && words.stream().skip(1).noneMatch(VERSION::contains);
  }
}
