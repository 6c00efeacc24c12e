package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.mcp.McpServer;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Rejection;
import dev.parley.tool.Tool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigTest {

  private static final String HASH =
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

  @TempDir Path folder;

  @Test
  void without_a_file_everything_has_a_default() {
    var config = TestServer.config(folder);

    assertThat(config.http().host()).isEqualTo("127.0.0.1");
    assertThat(config.http().port()).isEqualTo(7070);
    assertThat(config.http().heartbeat()).isEqualTo(Duration.ofSeconds(15));
    assertThat(config.data()).isEqualTo(folder.resolve(".parley"));
    assertThat(config.workspaces()).containsExactly(folder);
    assertThat(config.supervisor().fallback()).isEqualTo(new AgentTypeId("agent-code"));
    assertThat(config.idleContexts()).isZero();
  }

  @Test
  void agents_of_the_default_team_take_the_task_types_of_the_apis() {
    var environment = new Config.ProcessEnvironment(Map.of(), folder, folder);

    assertThat(Config.load(null, environment).agents().getFirst().taskTypes())
        .containsExactly("code_review", "code_generate", "code_refactor", "code_debug");
    assertThat(Config.load(null, environment, TestServer.MODULES).agents().getFirst().taskTypes())
        .startsWith("code_review", "code_generate", "code_refactor", "code_debug")
        .contains("angular_project", "angular_optimization")
        .hasSize(11);
  }

  @Test
  void an_agent_can_take_any_type_of_task() {
    var agent = read("agents: [{id: a, taskTypes: [cooking, 'acme:soup']}]").agents().getFirst();

    assertThat(agent.taskTypes()).containsExactly("cooking", "acme:soup");
  }

  @Test
  void an_empty_file_is_the_same_as_none() {
    // Programs may not see the file.
    assertThat(read("# nothing yet\n\n").with(ContainmentConfig.DEFAULT))
        .isEqualTo(TestServer.config(folder));
  }

  @Test
  void isolation_is_read_with_its_overrides() throws IOException {
    var containment =
        read("""
                isolation: {level: auto, memory: 2g, readable: [tools]}
                agents:
                  - {id: a, tools: [shell], isolation: {network: true, writable: ["~/.m2"]}}
                  - {id: b, tools: [shell]}
                  - {id: c, type: cli, cli: claude, isolation: {level: none, fileSize: 0}}
                mcpServers:
                  notes: {command: [node], isolation: {processes: 9, cpuTime: 5m}}
                """)
            .containment();
    var a = containment.agents().get(new AgentTypeId("a"));
    var c = containment.agents().get(new AgentTypeId("c"));
    var notes = containment.mcpServers().get("notes");

    assertThat(containment.level()).contains(ContainmentConfig.LevelChoice.AUTO);
    assertThat(containment.hidden()).containsExactly(folder.resolve("parley.yaml"));
    assertThat(containment.commands().limits().memoryBytes()).isEqualTo(2L << 30);
    assertThat(containment.agents()).doesNotContainKey(new AgentTypeId("b"));
    assertThat(a.network()).isTrue();
    assertThat(a.readable()).containsExactly(folder.resolve("tools"));
    assertThat(a.writable()).containsExactly(folder.resolve(".m2"));
    assertThat(c.isolated()).isFalse();
    assertThat(c.network()).isTrue();
    assertThat(c.limits().fileBytes()).isZero();
    assertThat(notes.folderWritable()).isFalse();
    assertThat(notes.limits().processes()).isEqualTo(9);
    assertThat(notes.limits().cpuTime()).isEqualTo(Duration.ofMinutes(5));
  }

  @Test
  void every_section_that_this_version_can_use_is_read() throws IOException {
    Files.createDirectories(folder.resolve("projects"));
    Files.createDirectories(folder.resolve("other/more"));
    var config =
        read(
            """
            models:
              demo: {provider: offline}
            agents:
              - {id: agent-code, name: Code, description: "Writes ${WHAT}", type: llm, model: demo,
                 instructions: "Be brief.", tools: [files], taskTypes: [code_review]}
              - {id: other}
            supervisor: {model: demo, fallbackAgent: other}
            workspaces: ["projects", "${ROOT}/more"]
            limits: {taskTimeout: 5m, maxTurns: 50, maxDepth: 5, maxConcurrentTasks: 200, maxStreams: 9, historyTokens: 2000, historyCharacters: 4000}
            auth: {tokens: [{name: me, sha256: "%s"}]}
            retention: {idleContexts: 30d}
            allowedHosts: [box.example]
            allowedOrigins: ["https://page.example"]
            heartbeat: 300ms
            """
                .formatted(HASH));

    assertThat(config.agents()).hasSize(2);
    assertThat(config.agents().getFirst().description()).isEqualTo("Writes code");
    assertThat(config.agents().getLast().model()).isEqualTo("demo");
    assertThat(config.supervisor().fallback()).isEqualTo(new AgentTypeId("other"));
    assertThat(config.workspaces())
        .containsExactly(folder.resolve("projects"), folder.resolve("other/more"));
    assertThat(config.limits().taskTimeout()).isEqualTo(Duration.ofMinutes(5));
    assertThat(config.limits().loop().maxTurns()).isEqualTo(50);
    assertThat(config.limits().loop().historyTokens()).isEqualTo(1_000);
    assertThat(config.http().limits().streams()).isEqualTo(9);
    assertThat(config.http().tokens()).extracting("name").containsExactly("me");
    assertThat(config.idleContexts()).isEqualTo(Duration.ofDays(30));
    assertThat(config.http().heartbeat()).isEqualTo(Duration.ofMillis(300));
    assertThat(config.http().allowedHosts()).containsExactly("box.example");
  }

  @Test
  void mcp_servers_are_read_with_a_clean_environment() {
    var config =
        read(
            """
            mcpServers:
              files: {command: [npx, server, "${ROOT}"], env: {KEY: "${WHAT}"}, permission: ask}
              far: {url: "https://far.example/mcp?x=1", headers: {Authorization: "Bearer ${WHAT}"},
                    effect: at-most-once, timeout: 5m}
            agents: [{id: a, tools: [clock, "mcp:files", "mcp:far/search"]}]
            """);

    var files = config.mcpServers().getFirst();
    assertThat(files.name()).isEqualTo("files");
    assertThat(files.permission()).isEqualTo(Tool.Permission.ASK);
    assertThat(files.effect()).isNull();
    assertThat(files.timeout()).isEqualTo(McpServer.TIMEOUT);
    var process = (McpServer.StdioEndpoint) files.endpoint();
    assertThat(process.command())
        .containsExactly("npx", "server", folder.resolve("other").toString());
    assertThat(process.environment()).containsEntry("KEY", "code").doesNotContainKey("WHAT");
    assertThat(process.environment()).containsKey("PATH");
    assertThat(process.folder()).isEqualTo(folder);
    var far = config.mcpServers().getLast();
    assertThat(far.effect()).isEqualTo(Tool.Effect.AT_MOST_ONCE);
    assertThat(far.timeout()).isEqualTo(Duration.ofMinutes(5));
    assertThat(((McpServer.HttpEndpoint) far.endpoint()).headers())
        .containsEntry("Authorization", "Bearer code");
    assertThat(config.toString()).doesNotContain("Bearer", "KEY=");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "limits: {maxTurns: 5}\\n"
            + "colour: red | parley.yaml:2:1: colour: unknown key. Keys here: models, agents,",
        "limits:\\n"
            + "  maxTurns: 5\\n"
            + "  maxTunes: 6 | parley.yaml:3:3: limits.maxTunes: unknown key. Did you mean"
            + " maxTurns or maxTokens? Keys here:",
        "heartbeat: ${NOPE} | parley.yaml:1:12: heartbeat: the environment variable NOPE is not"
            + " set",
        "auth: {tokens: [{name: '${WHTA}', sha256: x}]} | Did you mean WHAT?",
        "heartbeat: soon | :1:12: heartbeat: must be a number with the unit",
        "limits: {maxTurns: many} | :1:20: limits.maxTurns: must be a whole number; found \"many\"",
        "limits: {maxTurns: -3} | :1:20: limits.maxTurns: must be at least 1; found -3",
        "agents: [{id: a, type: a2a}] | agents.a.url: must be an address",
        "agents: [{id: a, type: a2a, url: 'http://a', model: b}] | :1:46: agents.a.model: is not"
            + " allowed with type a2a",
        "agents: [{id: a, type: a2a, url: 'http://a', version: 2}] | version: must be one of auto",
        "agents: [{id: a, type: a2a, url: 'http://a', transport: grpc}] | transport: must be one of"
            + " auto",
        "agents: [{id: a, type: a2a, url: 'http://a', timeout: 1ms}] | timeout: must be between 1s"
            + " and 1h",
        "agents: [{id: a, type: a2a, url: 'http://a', token: t, headers: {authorization: b}}] |"
            + " a.token: is not allowed together",
        "agents: [{id: a, type: llm, token: t}] | agents.a.token: needs type a2a",
        "agents: [{id: a, type: cli}] | needs cli: claude, codex, gemini or jsonl",
        "agents: [{id: a, type: cli, cli: vi}] | claude, codex, gemini, jsonl",
        "agents: [{id: a, type: cli, cli: jsonl}] | needs a command",
        "agents: [{id: a, type: cli, cli: codex, permissions: {deny: [x]}}] | have no rules",
        "agents: [{id: a, type: cli, cli: claude, mcp: [x]}] | there is no MCP server x",
        "agents: [{id: a, type: cli, cli: claude, silence: 1ms}] | at least 1s",
        "agents: [{id: a, type: cli, cli: claude, tools: [shell]}] | are not allowed with type cli",
        "agents: [{id: a, type: cli, cli: claude, mapping: {text: $.a}}] | agents.a.mapping: needs"
            + " cli jsonl",
        "agents: [{id: a, type: cli, cli: jsonl, command: [x], mapping: {text: a b}}] |"
            + " agents.a.mapping.text: a path is",
        "agents: [{id: a, maxTurns: 3}] | agents.a.maxTurns: needs type cli",
        "agents: [{id: a, tools: ['agent:x']}] | no agent for the tool agent:x",
        "agents: [{id: supervisor}] | reserved for the supervisor",
        "agents: [{id: a, permission: alow}] | :1:30: agents.a.permission: must be one of allow,"
            + " ask, deny; found \"alow\". Did you mean allow?",
        "agents: [{id: a, taskTypes: [not one]}] | :1:30: agents.a.taskTypes[0]: taskType must"
            + " be 1 to 128 characters",
        "limits: {inputTimeout: 0} | between 1ms",
        "mcpServers: {a: {url: 'https://x.org', oauth: {clientSecret: s}}} | clientId",
        "mcpServers: {a: {command: [x], oauth: {clientId: s}}} | mcpServers.a.oauth: needs url",
        "limits: {whenInputLapses: wait} | limits.whenInputLapses: must be one of continue, fail",
        "agents: [{id: a, tools: [clock, shel]}] | :1:33: agents.a.tools[1]: there is no tool shel;"
            + " known: files, shell, http",
        "agents: [{id: a, tools: [shel]}] | Did you mean shell?",
        "agents: [{id: a, tools: [shell], permissions: {deny: ['*', 'shel(rm *)']}}] | :1:60:"
            + " agents.a.permissions.deny[1]: shel(rm *) matches none of its tools: shell",
        "agents: [{id: a, tools: [shell], permissions: {deny: ['shel(rm *)']}}] | Did you mean"
            + " shell(rm *)?",
        "mcp: {e: {command: [x]}} | :1:1: mcp: unknown key. Did you mean mcpServers?",
        "agents: [{id: a, permission: Allow}] | found \"Allow\". Did you mean allow?",
        "models: {m: {provider: OpenAI}} | found \"OpenAI\". Did you mean openai?",
        "models: {m: {provider: offline, model: x}} | :1:33: models.m.model: is not allowed with"
            + " provider offline",
        "models: {m: {provider: offline, prices: {input: 1}}} | models.m.prices: is not allowed"
            + " with provider offline",
        "privateHosts: [box, 'a b'] | :1:21: privateHosts[1]: must be a host name or an address,"
            + " with or without a port, such as intranet, 10.0.0.7:8080 or [fd00::7]; found \"a"
            + " b\"",
        "privateHosts: ['http://x/'] | privateHosts[0]: must be a host name or an address",
        "privateHosts: [''] | privateHosts[0]: must be a host name or an address",
        "privateHosts: ['x:0'] | privateHosts[0]: must be a host name or an address",
        "privateHosts: ['x:65536'] | privateHosts[0]: must be a host name or an address",
        "privateHosts: ['::1'] | privateHosts[0]: must be a host name or an address",
        "limits:\\n"
            + "\tmaxTurns: 5 | :2:1: this is not YAML: a tab is not allowed here; use spaces",
        "agents: [{id: a}, {id: b}, {id: a}] | :1:33: agents.a.id: two agents have the id a",
        "mcpServers: {e: {command: npx}} | mcpServers.e.command: must be a list",
        "models: {claude: {provider: offline}}\\n"
            + "agents: [{id: a, model: cluade}] | :2:25: agents.a.model: there is no model cluade;"
            + " known: claude. Did you mean claude?",
        "agents: [{name: a}] | needs an id",
        "agents: [{id: 'a b'}] | must be 1 to 128 characters",
        "supervisor: {fallbackAgent: x} | supervisor.fallbackAgent: there is no agent x",
        "mcpServers: {e: {command: [npx], url: 'http://x/'}} | either command or url",
        "mcpServers: {e: {env: {A: b}}} | either command or url",
        "mcpServers: {e: {command: []}} | command must not be empty",
        "mcpServers: {e: {command: [x], headers: {A: b}}} | mcpServers.e.headers: needs url",
        "mcpServers: {e: {url: 'http://x/', env: {A: b}}} | env: needs command",
        "mcpServers: {e: {url: 'ftp://x/'}} | url: must be like",
        "mcpServers: {'e/f': {command: [x]}} | a name is",
        "mcpServers: {e: {command: [x], permission: maybe}} | allow, ask, deny",
        "mcpServers: {e: {command: [x], effect: none}} | pure, idempotent, at-most-once, ask",
        "mcpServers: {e: {command: [x], timeout: 0}} | at least 1ms",
        "mcpServers: {e: {command: [x], colour: red}} | mcpServers.e.colour: unknown key",
        "agents: [{id: a, tools: ['mcp:e']}] | there is no MCP server e",
        "auth: {tokens: []} | at least one token",
        "auth: {tokens: [{name: me, sha256: abc}]} | 64 hexadecimal",
        "agents: [{id: a}, {id: b, colour: 1}] | :1:27: agents.b.colour: unknown key",
        "'limits: {maxTurns: 5' | :1:21: this is not YAML: expected ',' or '}',"
            + " but got the end of the file",
        "limits:\\n"
            + "  maxTurns: 5\\n"
            + "  maxDepth: 2\\n"
            + "  maxTurns: 6 | :4:3: limits.maxTurns: this key is in the section twice: in line 2"
            + " and in line 4",
        "limits: {maxTurns: 1}\\n"
            + "limits: {maxDepth: 1} | limits: this key is in the section twice: in line 1 and in"
            + " line 2",
        "workspaces: [.]\\nworkspaces: [missing] | twice",
        "workspaces: ['.', missing] | :1:19: workspaces[1]: there is no folder",
        "workspaces: [parley.yaml] | is not a folder",
        "allowedOrigins: ['example.org/'] | :1:18: allowedOrigins[0]: must be scheme://host or"
            + " scheme://host:port, without a path; found \"example.org/\". Did you mean"
            + " https://example.org?",
        "allowedOrigins: ['https://example.org/app'] | without a path",
        "allowedHosts: ['https://example.org'] | allowedHosts[0]: must be a host without scheme and"
            + " port",
        "agents: {a: {id: a}} | agents: must be a list, such as [one, two]; found a section with"
            + " keys",
        "limits: 5 | limits: must have keys of its own",
        "limits: {maxTurns: 5.5} | must be a whole number; found \"5.5\"",
        "a2a: {idempotent: yes please} | a2a.idempotent: must be true or false; found",
        "agents: [~] | agents[0]: a value is missing",
        "mcpServers: {e: ~} | either command or url",
        "a: &x 1\\nb: *x | aliases",
        "a: 1\\n---\\nb: 1 | one document",
        "- 1 | must have keys of its own"
      })
  void what_cannot_be_used_is_refused_with_a_reason(String yaml, String reason) {
    assertThatThrownBy(() -> read(yaml.replace("\\n", "\n")))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining(reason)
        .hasMessageNotContaining("agents.a: agents.a");
  }

  @Test
  void all_errors_are_reported_at_once_in_the_order_of_the_file() {
    assertThat(
            errors(
                """
                models:
                  claude: {provider: anthropc, apiKey: k}
                  gpt: {provider: openai, apiKey: k, maxTokens: -1, timeout: 0, api: both}
                agents:
                  - {id: a, model: gtp, tools: [shel, clock, 'agent:x', 'mcp:e'],
                     permission: never, permissions: {allow: ['clok'], deny: ['clock', 'nothing']}}
                  - {id: b, permission: never, taskTypes: [not one], token: t}
                  - {id: a, model: gpt, type: cli, cli: vi, silence: 0}
                supervisor: {model: gptt, fallbackAgent: c}
                mcpServers: {x: {command: [], timeout: 0, effect: none}}
                limits: {maxTurns: 0, maxDepth: -1, maxTokens: -5, maxStreams: 0}
                workspaces: [missing, '.', gone]
                auth: {tokens: [{name: local, sha256: abc}, {name: me, sha256: "%s"}]}
                approvals: {mode: lax, a2aCallers: [you, me]}
                allowedHosts: [a b, c]
                allowedOrigins: [example.org, 'https://example.org/x']
                vault: {store: disk}
                a2a: {version: 2, card: big}
                """
                    .formatted(HASH)))
        .containsExactly(
            ":2:22 models.claude.provider",
            ":3:49 models.gpt.maxTokens",
            ":3:62 models.gpt.timeout",
            ":3:70 models.gpt.api",
            ":5:20 agents.a.model",
            ":5:33 agents.a.tools[0]",
            ":5:46 agents.a.tools[2]",
            ":5:57 agents.a.tools[3]",
            ":6:18 agents.a.permission",
            ":6:47 agents.a.permissions.allow[0]",
            ":6:72 agents.a.permissions.deny[1]",
            ":7:25 agents.b.permission",
            ":7:44 agents.b.taskTypes[0]",
            ":7:54 agents.b.token",
            ":8:10 agents.a.id",
            ":8:41 agents.a.cli",
            ":8:54 agents.a.silence",
            ":9:21 supervisor.model",
            ":9:42 supervisor.fallbackAgent",
            ":10:18 mcpServers.x.command",
            ":10:40 mcpServers.x.timeout",
            ":10:51 mcpServers.x.effect",
            ":11:20 limits.maxTurns",
            ":11:33 limits.maxDepth",
            ":11:48 limits.maxTokens",
            ":11:64 limits.maxStreams",
            ":12:14 workspaces[0]",
            ":12:28 workspaces[2]",
            ":13:24 auth.tokens.local.name",
            ":13:39 auth.tokens.local.sha256",
            ":14:19 approvals.mode",
            ":14:37 approvals.a2aCallers[0]",
            ":15:16 allowedHosts[0]",
            ":16:18 allowedOrigins[0]",
            ":16:31 allowedOrigins[1]",
            ":17:16 vault.store",
            ":18:16 a2a.version",
            ":18:25 a2a.card");
  }

  @Test
  void keys_that_are_there_twice_or_unknown_hide_no_errors_of_other_sections() {
    assertThat(
            errors(
                """
                models: {claude: {provider: anthropc, apiKey: k}}
                agents: [{id: a, model: claude, colour: red}, {id: b, model: gtp}]
                limits: {maxTurns: 5, maxTurns: 0, maxDepth: 0}
                workspaces: [missing]
                allowedHosts: ['https://example.org']
                allowedOrigins: [example.org]
                approvals: {mode: lax}
                """))
        .containsExactly(
            ":1:29 models.claude.provider",
            ":2:33 agents.a.colour",
            ":2:62 agents.b.model",
            ":3:23 limits.maxTurns",
            ":3:46 limits.maxDepth",
            ":4:14 workspaces[0]",
            ":5:16 allowedHosts[0]",
            ":6:18 allowedOrigins[0]",
            ":7:19 approvals.mode");
  }

  @Test
  void errors_that_only_follow_from_another_one_are_not_reported() {
    assertThat(
            errors(
                """
                model: {claude: {provider: anthropic, apiKey: k}}
                mcp: {e: {command: [x]}}
                agents:
                  - {id: a, model: claude, tools: ['mcp:e', 'agent:b'], type: [llm], cli: claude}
                  - {idd: b, permission: never}
                  - {id: c, tools: [shel], permissions: {deny: ['shell(rm *)']}}
                supervisor: {fallbackAgent: b}
                auth: {tokens: [{nam: me, sha256: "%s"}]}
                approvals: {mode: strict, a2aCallers: [me]}
                """
                    .formatted(HASH)))
        .containsExactly(
            ":1:1 model",
            ":2:1 mcp",
            ":4:57 agents.a.type",
            ":5:6 agents[1].idd",
            ":5:26 agents[1].permission",
            ":6:21 agents.c.tools[0]",
            ":8:18 auth.tokens[0].nam");
    assertThat(errors("models: {m: {provider: [x], maxTokens: 0}}"))
        .containsExactly(":1:14 models.m.provider", ":1:40 models.m.maxTokens");
    assertThat(errors("mcpServers: {e: {command: npx, timeout: 0}}"))
        .containsExactly(":1:27 mcpServers.e.command", ":1:41 mcpServers.e.timeout");
    assertThat(errors("mcpServers: {e: {command: [x], env: {A: ~}}}"))
        .containsExactly(":1:38 mcpServers.e.env.A");
  }

  @Test
  void at_most_a_hundred_errors_are_listed() {
    var wrong = errors("workspaces: [" + "missing, ".repeat(103) + "'.']");

    assertThat(wrong).hasSize(101);
    assertThat(wrong.getLast()).isEqualTo("and 3 more errors");
  }

  /// The locations and paths of all errors, in the order of the report.
  private List<String> errors(String yaml) {
    var wrong = catchThrowableOfType(Rejection.Invalid.class, () -> read(yaml));
    return String.valueOf(wrong.getMessage())
        .lines()
        .map(line -> line.replaceFirst(".*parley.yaml(:\\d+:\\d+): ([^ ]+): .*", "$1 $2"))
        .toList();
  }

  @Test
  void private_hosts_are_names_and_addresses_with_or_without_a_port() {
    var config = read("privateHosts: [Box.local, 10.0.0.7, 'sso:8443', '[fd00::7]', '[::1]:99']");

    assertThat(config.toolEnvironment().privateHosts())
        .containsExactlyInAnyOrder("box.local", "10.0.0.7", "sso:8443", "[fd00::7]", "[::1]:99");
  }

  @Test
  void no_error_shows_a_secret() {
    assertThatThrownBy(
            () ->
                read(
                    """
                    models: {m: {provider: openai, apiKey: "sk secret", apiKey: "sk-secret"}}
                    auth: {tokens: [{name: me, sha256: secret}]}
                    """))
        .hasMessageContaining("apiKey")
        .hasMessageNotContaining("secret");
  }

  @Test
  void rules_may_name_any_tool_that_the_agent_can_have() {
    var config =
        read(
            """
            mcpServers: {e: {command: [x]}}
            agents:
              - {id: b}
              - id: a
                tools: [files, shell, "mcp:e", "agent:b"]
                permissions:
                  allow: ["*_file", "shell(git log *)", "e_echo", "e_*", "*"]
                  ask: ["agent_b", "subagents"]
            """);

    assertThat(config.agents().getLast().policy().rules()).hasSize(7);
  }

  @Test
  void tools_are_named_by_their_group_or_one_by_one() {
    var config = read("agents: [{id: a, tools: [files, shell, http, fetch, report, ask_user]}]");

    assertThat(config.agents().getFirst().tools()).contains("shell", "fetch", "report");
  }

  @Test
  void a_value_from_the_environment_cannot_change_the_structure() {
    var config = read("agents: [{id: a, description: \"${EVIL}\"}]");

    assertThat(config.agents().getFirst().description()).isEqualTo("x\"}\ncolour: red");
  }

  private Config read(String yaml) {
    try {
      var file = Files.writeString(folder.resolve("parley.yaml"), yaml);
      var environment =
          Map.of(
              "WHAT",
              "code",
              "ROOT",
              folder.resolve("other").toString(),
              "EVIL",
              "x\"}\ncolour: red");
      return Config.load(
          file, new Config.ProcessEnvironment(environment, folder, folder), TestServer.MODULES);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
