package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.parley.protocol.Json;
import dev.parley.tool.Tool.Permission;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Rules against command lines: many that try to do more than a rule allows, and many that do not.
class CommandRulesTest {

  /// A rule of `allow`, and lines that it must not allow.
  private static final List<String[]> ATTACKS =
      List.of(
          row("printf *", "printf -v 'a[$(touch pwned)]' x"),
          row("test *", "test -v 'a[$(touch pwned)]'"),
          row("kubectl get *", "kubectl get pods --kubeconfig=evil.yaml"),
          row("npm test *", "npm test --prefix evil"),
          row("npm test *", "npm test --userconfig=e.rc"),
          row("diff3 *", "diff3 --diff-program=./evil a b c"),
          row("jobs *", "jobs -x touch pwned"),
          row("compgen *", "compgen -C 'touch pwned'"),
          row("pip *", "pip list --log=file"),
          row("shuf *", "shuf -o file -e y"),
          row("xxd *", "xxd in out"),
          row("wget *", "wget --append-output=file http://x"),
          row("git *", "git -c alias.x='!touch pwned' x"),
          row("git *", "git -c core.sshCommand=./evil fetch"),
          row("git *", "git --exec-path=/tmp/evil status"),
          row("git *", "git --exec-path /tmp status"),
          row("git *", "git -C /tmp/evil status"),
          row("git *", "git --git-dir=/tmp/evil log"),
          row("git *", "git --config-env=core.pager=X log"),
          row("git *", "git -p log"),
          row("git *", "git --paginate log"),
          row("git *", "git status; rm -rf x"),
          row("git *", "git status && rm -rf x"),
          row("git *", "git status || rm -rf x"),
          row("git *", "git status | sh"),
          row("git *", "git status & rm -rf x"),
          row("git *", "git status &"),
          row("git *", "git status > /etc/passwd"),
          row("git *", "git status 2>x"),
          row("git *", "git log >> ~/.bashrc"),
          row("git *", "git apply < evil.patch"),
          row("git *", "git status $(touch pwned)"),
          row("git *", "git status `touch pwned`"),
          row("git *", "git status \"$(touch pwned)\""),
          row("git *", "git status \"`touch pwned`\""),
          row("git *", "git log $IFS-x"),
          row("git *", "git log ${X:-a}"),
          row("git *", "git log \"$HOME\""),
          row("git *", "git log $'\\x41'"),
          row("git *", "git status\nrm -rf x"),
          row("git *", "git status\rrm -rf x"),
          row("git *", "git status\u2028rm -rf x"),
          row("git *", "git\u00a0status"),
          row("git *", "git status \u202e"),
          row("git *", "git sta\u200btus"),
          row("git *", "GIT_SSH=./evil git fetch"),
          row("git *", "A=b git status"),
          row("git *", "A+=b git status"),
          row("git *", "git log <<EOF\nx\nEOF"),
          row("git *", "git log <<< x"),
          row("git *", "git diff <(touch pwned)"),
          row("git *", "git add *"),
          row("git *", "git add ?.txt"),
          row("git *", "git add [ab]"),
          row("git *", "git {status,log}"),
          row("git *", "git add ~/x"),
          row("git *", "git status # x"),
          row("git *", "git\\ status"),
          row("git *", "git status \\; rm"),
          row("git *", "git 'status"),
          row("git *", "git \"status"),
          row("git *", "! git status"),
          row("git *", "time git status"),
          row("git *", "(git status)"),
          row("git *", "{ git status; }"),
          row("git *", "'git status'"),
          row("git *", "/tmp/git status"),
          row("git *", "./git status"),
          row("git *", "gitx status"),
          row("git *", "=git status"),
          row("git *", "git clone --upload-pack=./evil x"),
          row("git *", "git clone ext::sh x"),
          row("git *", "git ls-remote --upload-pack ./evil x"),
          row("git *", "git fetch --upload-p ./evil"),
          row("git *", "git rebase --exec ./evil HEAD"),
          row("git *", "git rebase -x ./evil HEAD"),
          row("git *", "git config alias.x !touch"),
          row("git *", "git submodule foreach evil"),
          row("git *", "git bisect run ./evil"),
          row("git *", "git difftool -x ./evil"),
          row("git *", "git grep -O./evil x"),
          row("git *", "git grep --open-files-in-pager=./evil x"),
          row("git *", "git diff --output=/tmp/x"),
          row("git *", "git log --outp=/tmp/x"),
          row("git *", "git diff --ext-diff"),
          row("git *", "git commit -m x"),
          row("git *", "git push"),
          row("git *", "git init --template=./evil"),
          row("git clone *", "git clone -u ./evil x y"),
          row("git clone *", "git clone -c core.sshCommand=./evil x y"),
          row("git push *", "git push --receive-pack=./evil"),
          row("find *", "find . -exec rm x +"),
          row("find *", "find . -execdir rm x +"),
          row("find *", "find . -ok rm x +"),
          row("find *", "find . -delete"),
          row("find *", "find . -fprintf /etc/x y"),
          row("find *", "find . -fprint /etc/x"),
          row("find *", "find . -fls /etc/x"),
          row("mvn *", "mvn exec:exec -Dexec.executable=touch"),
          row("mvn *", "mvn exec:java"),
          row("mvn *", "mvn -f /tmp/evil/pom.xml test"),
          row("mvn *", "mvn -s evil.xml test"),
          row("mvn *", "mvn -Dmaven.ext.class.path=evil.jar test"),
          row("mvn *", "mvn org.codehaus.mojo:exec-maven-plugin:3.0.0:exec"),
          row("env *", "env touch pwned"),
          row("env *", "env -S touch"),
          row("xargs *", "xargs rm"),
          row("sh *", "sh -c 'touch pwned'"),
          row("bash *", "bash -c 'touch pwned'"),
          row("bash *", "bash evil.sh"),
          row("python *", "python -c 'import os'"),
          row("python3.12 *", "python3.12 x.py"),
          row("perl *", "perl -e 'system(1)'"),
          row("node *", "node -e 'x'"),
          row("awk *", "awk 'BEGIN{system(\"x\")}'"),
          row("sed *", "sed -n '1e touch pwned' x"),
          row("sed *", "sed -i s/a/b/w/etc/x y"),
          row("tar *", "tar --to-command=./evil -xf x"),
          row("tar *", "tar -cf x --checkpoint=1 --checkpoint-action=exec=./evil y"),
          row("tar *", "tar -I ./evil -tf x"),
          row("ssh *", "ssh host rm -rf x"),
          row("sudo *", "sudo ls"),
          row("nohup *", "nohup evil"),
          row("timeout *", "timeout 5 evil"),
          row("nice *", "nice evil"),
          row("make *", "make evil"),
          row("npm *", "npm run evil"),
          row("npm run *", "npm run evil"),
          row("npm *", "npm install evil"),
          row("npx *", "npx evil"),
          row("sort *", "sort -o /etc/x y"),
          row("sort *", "sort --compress-program=./evil x"),
          row("rg *", "rg --pre ./evil x"),
          row("fd *", "fd x -x rm"),
          row("curl *", "curl -o /etc/x https://x"),
          row("curl *", "curl -sSLo x https://x"),
          row("curl *", "curl --config evil https://x"),
          row("uniq *", "uniq a b"),
          row("go *", "go run evil.go"),
          row("go test *", "go test -exec ./evil x"),
          row("cargo build *", "cargo build --config evil"),
          row("docker *", "docker run -v /:/x evil"),
          row("vim *", "vim x"),
          row("less *", "less x"),
          row("cat src/*", "cat src/../../etc/passwd"),
          row("cat *.txt", "cat -x.txt"),
          row("*", "ls"),
          row("*", "evil"),
          row("git status", "git status -s"),
          row("git status", "git status; rm x"),
          row("git status*", "git status -s"),
          row("if *", "if true"),
          row("ls *", "ls " + "a".repeat(20_000)));

  /// A rule of `allow`, and lines that it allows.
  private static final List<String[]> BENIGN =
      List.of(
          row("git *", "git"),
          row("git *", "git status"),
          row("git *", "git  status   -s"),
          row("git *", "\"git\" 'status'"),
          row("git *", "git log --oneline -n 5"),
          row("git *", "git log --pretty=format:%h -p"),
          row("git *", "git --no-pager diff HEAD~0".replace("~0", "")),
          row("git *", "git show HEAD:src/Main.java"),
          row("git *", "git grep -i 'two words'"),
          row("git *", "git blame -L 1,20 a.txt"),
          row("git commit *", "git commit -m 'fix: a, b'"),
          row("git add *", "git add src/a.txt 'b c.txt'"),
          row("git push origin *", "git push origin main"),
          row("git status", "git status"),
          row("git status", "git  status"),
          row("make test && make lint", "make test && make lint"),
          row("make test", "make test"),
          row("npm run test", "npm run test"),
          row("npm run test *", "npm run test unit"),
          row("npm test", "npm test"),
          row("npm *", "npm ls"),
          row("mvn *", "mvn -q -B test"),
          row("mvn *", "mvn clean verify"),
          row("mvn exec:java", "mvn exec:java"),
          row("ls *", "ls -la src"),
          row("cat src/*", "cat src/Main.java"),
          row("grep *", "grep -rn 'a|b' src"),
          row("find *", "find . -name '*.java' -type f"),
          row("rg *", "rg --files"),
          row("sort *", "sort -u x"),
          row("curl *", "curl -sSf https://example.org/a?b".replace("?b", "")),
          row("tar *", "tar -tzf x.tgz"),
          row("node *", "node --version"),
          row("python3 build.py", "python3 build.py"),
          row("./gradlew *", "./gradlew test"),
          row("echo *", "echo \"a; b & c\" '$HOME'"));

  /// A rule of `deny`, and lines that it denies.
  private static final List<String[]> FORBIDDEN =
      List.of(
          row("rm *", "rm -rf x"),
          row("rm *", "rm"),
          row("rm *", "  rm x"),
          row("rm *", "ls; rm -rf x"),
          row("rm *", "ls && rm -rf x"),
          row("rm *", "ls || rm x"),
          row("rm *", "ls | rm x"),
          row("rm *", "ls & rm x"),
          row("rm *", "ls\nrm x"),
          row("rm *", "(rm x)"),
          row("rm *", "{ rm x; }"),
          row("rm *", "if true; then rm x; fi"),
          row("rm *", "! rm x"),
          row("rm *", "/bin/rm x"),
          row("rm *", "r\\m x"),
          row("rm *", "'rm' x"),
          row("rm *", "\"rm\" x"),
          row("rm *", "r''m x"),
          row("rm *", "A=b rm x"),
          row("rm *", ">x rm y"),
          row("rm *", "2>&1 rm y"),
          row("rm *", "echo $(rm x)"),
          row("rm *", "echo `rm x`"),
          row("rm *", "echo \"$(rm x)\""),
          row("rm *", "cat <(rm x)"),
          row("rm *", "sudo -u root rm x"),
          row("rm *", "env A=b rm x"),
          row("rm *", "nohup nice -n 5 rm x"),
          row("rm *", "timeout 5 rm x"),
          row("rm *", "echo x | xargs rm"),
          row("rm *", "find . -exec rm {} +"),
          row("rm *", "sh -c 'rm x'"),
          row("rm *", "bash -lc \"ls; rm x\""),
          row("rm *", "sudo sh -c 'rm x'"),
          row("rm *", "eval rm x"),
          row("rm *", "eval 'rm x'"),
          row("rm *", "exec rm x"),
          row("rm *", "command rm x"),
          row("rm *", "busybox rm x"),
          row("rm *", "sh -c \"sh -c 'rm x'\""),
          row("git push*", "git push --force"),
          row("git push *", "git  push"),
          row("git push", "cd x && git push"),
          row("*secret*", "cat my secret file"));

  /// A rule of `deny`, and lines that cannot be parsed: they need approval although everything else
  /// is allowed.
  private static final List<String[]> UNCLEAR =
      List.of(
          row("rm *", "$X -rf x"),
          row("rm *", "r$1m x"),
          row("rm *", "${X}rm x"),
          row("rm *", "/bin/r? x"),
          row("rm *", "/bin/[r]m x"),
          row("rm *", "{rm,-rf,x}"),
          row("rm *", "$'rm' x"),
          row("rm *", "echo `date`"),
          row("rm *", "echo $(date)"),
          row("rm *", "cat <<EOF\nx\nEOF"),
          row("rm *", "echo 'x"),
          row("rm *", "echo \"x"),
          row("rm *", "source x"),
          row("rm *", ". ./x"),
          row("rm *", "bash x.sh"),
          row("rm *", "python -c 'x'"),
          row("rm *", "perl -e x"),
          row("rm *", "sudo python3 x.py"),
          row("rm *", "ls \u202e x"),
          row("rm -rf *", "rm $X y"),
          row("rm *", "ls " + "a".repeat(20_000)));

  /// A rule of `deny`, and lines that it does not match.
  private static final List<String[]> OTHERS =
      List.of(
          row("rm *", "ls -la"),
          row("rm *", "echo rm"),
          row("rm *", "git rm x"),
          row("rm *", "ls *.java"),
          row("rm *", "rmdir x"),
          row("rm *", "make test && ls > out 2>&1"),
          row("rm *", "echo \"$HOME\""),
          row("git push", "git push --force"),
          row("git push *", "git pull"));

  private static String[] row(String rule, String line) {
    return new String[] {rule, line};
  }

  static List<String[]> attacks() {
    return ATTACKS;
  }

  static List<String[]> benign() {
    return BENIGN;
  }

  static List<String[]> forbidden() {
    return FORBIDDEN;
  }

  static List<String[]> unclear() {
    return UNCLEAR;
  }

  static List<String[]> others() {
    return OTHERS;
  }

  private static Permission permission(ToolPolicy toolPolicy, String line) {
    var arguments = Json.object().put("command", line);
    return toolPolicy.permissionFor("shell", arguments, line, Permission.ASK);
  }

  private static ToolPolicy allowing(String rule) {
    return new ToolPolicy(null, List.of("shell(" + rule + ")"), List.of(), List.of());
  }

  private static ToolPolicy forbidding(String rule) {
    return new ToolPolicy(null, List.of("shell"), List.of(), List.of("shell(" + rule + ")"));
  }

  @ParameterizedTest
  @MethodSource
  void attacks(String rule, String line) {
    assertThat(permission(allowing(rule), line)).isEqualTo(Permission.ASK);
  }

  @ParameterizedTest
  @MethodSource
  void benign(String rule, String line) {
    assertThat(permission(allowing(rule), line)).isEqualTo(Permission.ALLOW);
  }

  @ParameterizedTest
  @MethodSource
  void forbidden(String rule, String line) {
    assertThat(permission(forbidding(rule), line)).isEqualTo(Permission.DENY);
    var asking = new ToolPolicy(null, List.of("shell"), List.of("shell(" + rule + ")"), List.of());
    assertThat(permission(asking, line)).isEqualTo(Permission.ASK);
  }

  @ParameterizedTest
  @MethodSource
  void unclear(String rule, String line) {
    assertThat(permission(forbidding(rule), line)).isEqualTo(Permission.ASK);
  }

  @ParameterizedTest
  @MethodSource
  void others(String rule, String line) {
    assertThat(permission(forbidding(rule), line)).isEqualTo(Permission.ALLOW);
  }

  /// Lines that hide `rm`: a rule of `deny` finds it, or cannot exclude it, and then approval is
  /// needed.
  static List<String> hidden() {
    return List.of(
        "echo hi # don't\nrm -rf x\n# it's done",
        "function f { rm -rf x; }; f",
        "coproc N { rm -rf x; }",
        "set -- 1; for i do rm -rf x; done",
        "time -p rm -rf x",
        "\"r\\\nm\" -rf x",
        "echo $'\\'' ; rm -rf x ; echo \\'",
        "env -S 'rm -rf x'",
        "trap 'rm -rf x' EXIT",
        "su -c 'rm -rf x'",
        "command eval 'rm -rf x'",
        "echo 'rm -rf x' | bash -s -- -c",
        "env " + "A=1 ".repeat(600) + "rm -rf x",
        "compgen -C 'rm x'",
        "jobs -x rm x",
        "printf -v 'a[$(rm x)]' x",
        "mapfile -C 'rm x #'",
        "setarch -R rm x",
        "prlimit rm x",
        "BASH_ENV=x bash -c true",
        "A=1 BASH_ENV=x bash -c true",
        "env BASH_ENV=x bash -c true",
        "sudo LD_PRELOAD=./x.so ls",
        "export BASH_ENV=x; bash -c true",
        "declare -x BASH_ENV=x; bash -c true",
        "BASH_ENV=x; bash -c true",
        "PATH=.:$PATH ls",
        "GIT_SSH_COMMAND=./x git fetch",
        "NODE_OPTIONS=--require=./x.js node --version",
        "echo \u3164rm");
  }

  @ParameterizedTest
  @MethodSource
  void hidden(String line) {
    assertThat(permission(forbidding("rm *"), line)).isNotEqualTo(Permission.ALLOW);
  }

  @Test
  void assignments_that_run_nothing_are_no_reason_to_ask() {
    for (var line :
        List.of("NODE_ENV=test npm test", "LANG=C ls", "env A=1 ls", "A=1", "export A=1")) {
      assertThat(permission(forbidding("rm *"), line)).isEqualTo(Permission.ALLOW);
    }
  }

  @Test
  void letters_that_show_nothing_are_not_plain() {
    assertThat(permission(allowing("wc *"), "wc -l a\u3164b")).isEqualTo(Permission.ASK);
    assertThat(permission(allowing("wc *"), "wc -l 'a\u115fb'")).isEqualTo(Permission.ASK);
  }

  @Test
  void letters_beyond_ascii_are_plain_only_where_programs_receive_them() {
    var received = System.getProperty("sun.jnu.encoding", "").startsWith("UTF");

    assertThat(permission(allowing("wc *"), "wc -l größe.txt"))
        .isEqualTo(received ? Permission.ALLOW : Permission.ASK);
  }

  @Test
  void options_before_a_sub_command_do_not_hide_it() {
    for (var line : List.of("git -C . push", "git --no-pager push origin")) {
      assertThat(permission(forbidding("git push *"), line)).isNotEqualTo(Permission.ALLOW);
    }
  }

  @Test
  void the_tables_are_long_enough() {
    assertThat(ATTACKS.size()).isGreaterThanOrEqualTo(80);
    assertThat(BENIGN.size()).isGreaterThanOrEqualTo(30);
  }

  @Test
  void a_line_that_is_not_understood_is_not_allowed_by_the_standard_either() {
    var toolPolicy = new ToolPolicy(Permission.ALLOW, List.of(), List.of(), List.of("shell(rm *)"));
    assertThat(permission(toolPolicy, "$X y")).isEqualTo(Permission.ASK);
    var strict = new ToolPolicy(Permission.DENY, List.of(), List.of(), List.of("shell(rm *)"));
    assertThat(permission(strict, "$X y")).isEqualTo(Permission.DENY);
  }

  @Test
  void rules_hold_for_the_shells_of_command_line_agents() {
    var toolPolicy = new ToolPolicy(null, List.of("Bash(git *)"), List.of(), List.of("Bash(rm *)"));
    var arguments = Json.object().put("command", "git -c alias.x=!y x").put("description", "rm");
    assertThat(toolPolicy.permissionFor("Bash", arguments, "git -c alias.x=!y x", Permission.ASK))
        .isEqualTo(Permission.ASK);
    arguments.put("command", "ls; rm x");
    assertThat(toolPolicy.permissionFor("Bash", arguments, "ls; rm x", Permission.ASK))
        .isEqualTo(Permission.DENY);
  }

  @Test
  void other_tools_have_rules_as_before() {
    var toolPolicy =
        new ToolPolicy(null, List.of("write_file(src/*)"), List.of(), List.of("write_file(*.key)"));
    var arguments = Json.object().put("path", "src/a.txt").put("content", "x");
    assertThat(toolPolicy.permissionFor("write_file", arguments, "src/a.txt", Permission.ASK))
        .isEqualTo(Permission.ALLOW);
    arguments.put("path", "src/a.key");
    assertThat(toolPolicy.permissionFor("write_file", arguments, "src/a.key", Permission.ASK))
        .isEqualTo(Permission.DENY);
  }

  @Test
  void lines_that_are_made_to_be_slow_are_read_in_time() {
    for (var piece :
        List.of("\"$(", "`", "sudo ", "eval ", "rm -a", "sh -c '", "((", "\"", "\\", "{a,b}")) {
      var line = piece.repeat(ShellLineParser.LENGTH_MAX / piece.length());
      assertTimeoutPreemptively(
          Duration.ofSeconds(30),
          () -> {
            CommandRules.forbids("rm -*-*-*-*-*-*-*-*-*-*Z", line);
            CommandRules.allows("rm -*-*-*-*-*-*-*-*-*-*Z *", line);
          },
          piece);
    }
  }
}
