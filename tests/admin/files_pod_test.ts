/** The files screens over a pod with a real sshd: what they do to it, and the bad days that only a real one has. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { needsPods } from "../files/support.ts";
import { eventually } from "../support/world.ts";
import { inside, oddNames } from "../support/sftp.ts";
import { exists, withPodFiles } from "./files_support.ts";
import { sentence } from "./support.ts";

Deno.test("files are browsed, made, renamed, moved and deleted by keys, and the pod shows it", needsPods, async () => {
  const prepare = (volume: string) => {
    Deno.mkdirSync(`${volume}/run1`);
    Deno.writeTextFileSync(`${volume}/run1/log`, "x".repeat(1_234), { mode: 0o640 });
    Deno.chmodSync(`${volume}/run1/log`, 0o640);
    Deno.utimeSync(`${volume}/run1/log`, 1_795_900_000, 1_795_900_000);
  };
  await withPodFiles({ prepare, columns: 100 }, async ({ admin, inPod }) => {
    assert.match(admin.text(), /\/workspace {2}3 entries/);
    await admin.press("enter");
    const text = await admin.until("1 entry");
    assert.match(text, /Files \/workspace > run1/);
    assert.match(text, /> log +1\.2 KB +Sat 28 Nov 22:06 +640 +file +0:0/);

    await admin.press("n");
    await admin.type("a/b");
    await admin.until("! Name must not have a / in it");
    await admin.press("ctrl-u");
    await admin.type("models");
    await admin.press("ctrl-s");
    await admin.until("> models/");
    assert((await Deno.stat(inPod("run1/models"))).isDirectory);

    await admin.press("j");
    await admin.until("> log");
    await admin.press("r", "ctrl-u");
    await admin.type("last.log");
    await admin.press("ctrl-s");
    await admin.until("> last.log");
    assert.equal((await Deno.stat(inPod("run1/last.log"))).size, 1_234);
    await admin.press("r");
    await admin.until("/workspace/run1/last.log");
    await admin.press("ctrl-u");
    await admin.type("/workspace/run1/models");
    await admin.press("ctrl-s");
    await admin.until("There is already something at this path");
    assert.match(admin.text(), /run1\/models/);
    await admin.type("/l");
    await admin.press("ctrl-s");
    await admin.until("is now /workspace/run1/models/l");
    assert.equal((await Deno.stat(inPod("run1/models/l"))).size, 1_234);

    await admin.press("left");
    await admin.until("> run1/");
    await admin.press("D");
    await admin.until("run1 holds 1 folder and 1 file (1.2 KB).");
    await admin.press("y", "enter");
    assert(await exists(inPod("run1")), "its name was not typed");
    await admin.press("ctrl-u");
    await admin.type("run1");
    await admin.press("enter");
    await admin.until("run1 is deleted");
    assert(!await exists(inPod("run1")));
    await admin.until("2 entries");
    await admin.press("left");
    await admin.until("Files /");
    assert.match(await admin.until("> workspace/"), / etc\//);
    await admin.press("D");
    await admin.until("workspace holds");
    await admin.type("workspace");
    await admin.press("enter");
    await admin.until("That directory cannot be deleted");
  });
});

Deno.test(
  "a folder that was empty is not deleted when something was put into it before the answer",
  needsPods,
  async () => {
    await withPodFiles({ prepare: (volume) => Deno.mkdirSync(`${volume}/new`) }, async ({ admin, inPod }) => {
      await admin.until("> new/");
      await admin.press("D");
      await admin.until("new holds nothing.");
      await Deno.writeTextFile(inPod("new/results.csv"), "1\n");
      await admin.press("y");
      await admin.until("new is not empty any more, so it is not deleted");
      await Deno.remove(inPod("new/results.csv"));
      await admin.press("D");
      await admin.until("new holds nothing.");
      await admin.press("y");
      await admin.until("new is deleted");
      assert(!await exists(inPod("new")));
    });
  },
);

Deno.test(
  "files are sent and fetched byte by byte, and asked about before one is replaced on either side",
  needsPods,
  async () => {
    const noise = crypto.getRandomValues(new Uint8Array(50_000));
    const prepare = (volume: string) => {
      Deno.writeFileSync(`${volume}/z.bin`, noise);
      Deno.mkdirSync(`${volume}/a`);
      Deno.writeTextFileSync(`${volume}/a/in`, "inside\n");
    };
    await withPodFiles({ prepare, columns: 120 }, async (place) => {
      const { admin, home, inPod } = place;
      const answer = async (typed: string) => {
        await admin.press("ctrl-u");
        await admin.type(typed);
        await admin.press("enter");
      };
      await admin.press("G", "d");
      await admin.until("To which file on this computer?");
      await answer("~/nowhere/x");
      await admin.until("~/nowhere is not a folder");
      assert.match(admin.text(), /> ~\/nowhere\/x/);
      await answer("~");
      await admin.until("z.bin is saved as ~/z.bin (50.0 KB)");
      assert.deepEqual(await Deno.readFile(`${home}/z.bin`), noise);

      await Deno.writeTextFile(`${home}/z.bin`, "mine");
      await admin.press("d");
      await admin.until("To which file on this computer?");
      await answer("~/z.bin");
      await admin.until("~/z.bin is there already (4 B");
      await admin.press("n");
      await admin.until("> ~/z.bin");
      assert.equal(await Deno.readTextFile(`${home}/z.bin`), "mine");
      await admin.press("enter");
      await admin.until(sentence("is there already"));
      await admin.press("y");
      await eventually(async () => (await Deno.stat(`${home}/z.bin`)).size === 50_000, "it is replaced");

      await Deno.writeTextFile(`${home}/z.bin`, "new on the pod");
      await admin.press("u");
      await admin.until("Which file of this computer?");
      await answer("~/nothing-here");
      await admin.until(sentence("No such file or directory"));
      await answer("~/");
      await admin.until(sentence("is not a file"));
      await admin.press("ctrl-u");
      await admin.type("~/z");
      await admin.press("tab");
      await admin.until("> ~/z.bin");
      await admin.press("enter");
      await admin.until("/workspace/z.bin is on the pod already (50.0 KB");
      await admin.press("n");
      await admin.until("> ~/z.bin");
      assert.deepEqual(await Deno.readFile(inPod("z.bin")), noise);
      await admin.press("enter");
      await admin.until("is on the pod already");
      await admin.press("y");
      await admin.until("z.bin is on workshop (14 B)");
      assert.equal(await Deno.readTextFile(inPod("z.bin")), "new on the pod");

      await Deno.writeFile(`${home}/naïve name.txt`, noise);
      await admin.press("u");
      await answer("~/naïve name.txt");
      await admin.until("naïve name.txt is on workshop (50.0 KB)");
      assert.deepEqual(await Deno.readFile(inPod("naïve name.txt")), noise);

      await admin.press("g", "d");
      await admin.until("Archive a");
      await admin.press("esc", "a");
      await admin.until("Archive a");
      await answer("~/a.tar.gz");
      await admin.until("a is archived as ~/a.tar.gz");
      const listed = await new Deno.Command("tar", { args: ["tzf", `${home}/a.tar.gz`] }).output();
      assert.match(new TextDecoder().decode(listed.stdout), /^a\/in$/m);
      await admin.press("t");
      const list = await admin.until("Transfers 5");
      assert.match(list, /> Archive a +● done/);
      await admin.press("x");
      await admin.until("Nothing was sent or fetched yet");
      assert.deepEqual([...Deno.readDirSync(home)].map(({ name }) => name).sort(), [
        "a.tar.gz",
        "naïve name.txt",
        "z.bin",
      ]);
    });
  },
);

Deno.test("every odd name is shown harmless, opened by its bytes, and deleted by them", needsPods, async () => {
  await withPodFiles({ columns: 120, rows: 40 }, async ({ admin, files, list, inPod }) => {
    await Deno.mkdir(inPod("odd"));
    for (const { name } of oddNames) {
      const path = Buffer.from(inside("/workspace/odd", name)).toString("base64url");
      assert.equal((await files("write", { path_b64: path, content: "whole\n" })).status, 200);
    }
    await admin.press("ctrl-r");
    await admin.until("odd/");
    await admin.press("enter");
    await admin.until(`${oddNames.length} entries`);
    for (const _ of oddNames) {
      await admin.press("enter");
      await admin.until(/^whole$/m);
      await admin.press("esc", "j");
    }
    for (let left = oddNames.length - 1; left > oddNames.length - 4; left--) {
      await admin.press("D");
      await admin.until("It cannot be undone");
      await admin.press("y");
      await admin.until(`${left} entries`);
    }
    await admin.press("left");
    await admin.until("> odd/");
    await admin.press("D");
    await admin.until(`odd holds ${oddNames.length - 3} files`);
    await admin.type("odd");
    await admin.press("enter");
    await admin.until("odd is deleted");
    assert.equal((await list("/workspace/odd")).status, 404);
  });
});

Deno.test("a folder whose name is no UTF-8 is entered, and things are made and renamed in it", needsPods, async () => {
  const odd = "caf\\xe9";
  await withPodFiles({}, async ({ admin, exec, list }) => {
    await exec("mkdir $(printf '/workspace/caf\\351')");
    await admin.press("ctrl-r");
    await admin.until(`${odd}/`);
    await admin.press("enter");
    await admin.until("The folder is empty");
    assert.match(admin.text(), /Files \/workspace > caf\\xe9/);
    await admin.press("n");
    await admin.type("träger");
    await admin.press("ctrl-s");
    await admin.until("> träger/");
    await admin.press("r");
    await admin.until(/New path +träger/);
    await admin.press("ctrl-u");
    await admin.type("moved");
    await admin.press("ctrl-s");
    await admin.until("> moved/");
    await admin.press("left");
    await admin.until(`> ${odd}/`);
    await admin.press("r");
    await admin.type("plain");
    await admin.press("ctrl-s");
    await admin.until("> plain/");
    assert.deepEqual((await list("/workspace/plain")).json.files.map(({ name }: { name: string }) => name), ["moved"]);
  });
});

Deno.test("a full disk is told by the server's sentence, and the old file stays whole", needsPods, async () => {
  await withPodFiles({}, async ({ admin, files, exec, home }) => {
    // The pod's /dev is a file system of one megabyte.
    assert.equal((await files("mkdir", { path: "/dev/d" })).status, 200);
    assert.equal((await files("write", { path: "/dev/d/old", content: "old" })).status, 200);
    await Deno.writeFile(`${home}/old`, new Uint8Array(2_000_000));
    await admin.press(":");
    await admin.type("cd /dev/d/");
    await admin.press("enter");
    await admin.until("> old");
    await admin.press("u", "ctrl-u");
    await admin.type("~/old");
    await admin.press("enter");
    await admin.until("is on the pod already");
    await admin.press("y");
    await admin.until("There is no space left on the pod's disk");
    const after = await exec("ls -A /dev/d; cat /dev/d/old");
    assert.equal(new TextDecoder().decode(after.stdout), "old\nold");
  });
});

Deno.test(
  "a link cut in the middle leaves the old file whole, and the rest comes with the next try",
  needsPods,
  async () => {
    const noise = new Uint8Array(24_000_000).map((_, at) => at % 251);
    const prepare = (volume: string) => Deno.writeFileSync(`${volume}/z.bin`, noise);
    await withPodFiles({ prepare, columns: 200, scene: { proxy: "ending" } }, async ({ admin, home, link }) => {
      await Deno.writeTextFile(`${home}/z.bin`, "old");
      const fetch = async () => {
        await admin.press("G", "d", "ctrl-u");
        await admin.type("~/z.bin");
        await admin.press("enter");
        await admin.until(sentence("is there already"));
        await admin.press("y");
      };
      await fetch();
      const part = () => [...Deno.readDirSync(home)].find(({ name }) => name.endsWith("orgpods-part"));
      await eventually(() => {
        const { name } = part() ?? {};
        return name !== undefined && Deno.statSync(`${home}/${name}`).size > 1_000_000;
      }, "some of it came");
      link.cut();
      await admin.until("are kept: download it to the same place again for the rest");
      assert.equal(await Deno.readTextFile(`${home}/z.bin`), "old");
      await fetch();
      await admin.until("z.bin is saved as ~/z.bin (24.0 MB)");
      assert.deepEqual(await Deno.readFile(`${home}/z.bin`), noise);
      assert.equal(part(), undefined);
    });
  },
);

Deno.test(
  "a pod that stops meanwhile offers a start, and its files are there again afterwards",
  needsPods,
  async () => {
    const prepare = (volume: string) => Deno.writeTextFileSync(`${volume}/kept`, "k");
    const scene = { pod: { use_cpu_only: false } };
    await withPodFiles({ prepare, scene }, async ({ admin, world, pod }) => {
      await world.call("POST", `/api/compute/org/pods/${pod}/action`, { as: "officer", body: { action: "stop" } });
      world.clock.advance(61_000);
      await world.runpod.idle();
      await admin.press("ctrl-r");
      await admin.until("Pod is not running");
      await admin.until("Press s to start");
      assert(admin.offered().includes("s start"));
      assert(!admin.offered().includes("u upload"));
      await admin.press("s");
      await eventually(
        async () => {
          await world.runpod.idle();
          await admin.press("ctrl-r");
          return admin.text().includes("kept");
        },
        "the files are there",
        () => world.clock.advance(2_000),
      );
      assert(!admin.offered().includes("s start"));
    });
  },
);
