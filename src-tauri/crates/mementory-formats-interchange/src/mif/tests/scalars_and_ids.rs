//! Tests of the canonical form, of YAML scalars and of ids.
use super::super::{canonical::canonical, wire};
use mementory_json::{Tree, yaml};

fn tree(json: &str) -> Tree {
    Tree::parse(json, 100).unwrap()
}

#[test]
fn canonical_form_follows_rfc_8785() {
    let canon = |json: &str| {
        let mut out = String::new();
        canonical(&tree(json), &mut out);
        out
    };
    // RFC 8785 §3.2.2.3 and appendix B: numbers are printed as in ECMAScript.
    for (token, expected) in [
        ("0", "0"),
        ("-0", "0"),
        ("1.0", "1"),
        ("1e21", "1e+21"),
        ("1e20", "100000000000000000000"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ("333333333.33333329", "333333333.3333333"),
        ("1E30", "1e+30"),
        ("4.50", "4.5"),
        ("2e-3", "0.002"),
        ("-1.5e-9", "-1.5e-9"),
        ("9007199254740993", "9007199254740992"),
        ("123456.789e3", "123456789"),
        ("5e-324", "5e-324"),
    ] {
        assert_eq!(canon(token), expected, "{token}");
    }
    let text =
        r#"{ "b": [1, {"y": null, "x": true}], "\u20ac": "\u0001/\u00e9\"", "\ud83d\ude00": 1, "\ufb33": 2, "a": {} }"#;
    let expected = "{\"a\":{},\"b\":[1,{\"x\":true,\"y\":null}],\"€\":\"\\u0001/é\\\"\",\"😀\":1,\"\u{fb33}\":2}";
    assert_eq!(canon(text), expected);
}

#[test]
fn yaml_scalars_follow_the_core_schema() {
    let text = "- 1\n- +1\n- .5\n- 5.\n- 1e3\n- 0x1F\n- 0o17\n- 017\n- 1_000\n- .inf\n- .nan\n- yes\n- NO\n- true\n- ~\n- Null\n- \n- 2026-01-01\n- 12:30\n- \"1\"\n- !!str 1\n- !!int \"1\"\n- ! x\n- -\n- '-'\n- '.'\n";
    let text = text.replace("- -\n", "");
    let mut tree = yaml::parse(&text, 10.into()).unwrap();
    let item = |index: usize| match &tree {
        Tree::Array(items) => items[index].clone(),
        _ => panic!(),
    };
    for (index, token) in [(1, "+1"), (2, ".5"), (3, "5."), (5, "0x1F"), (6, "0o17")] {
        assert_eq!(item(index), Tree::Number(token.into()), "as it is in the document");
    }
    yaml::to_json_notation(&mut tree);
    let mut out = String::new();
    tree.write(&mut out);
    assert_eq!(
        out,
        r#"[1,1,0.5,5.0,1e3,31,15,"017","1_000",.inf,.nan,"yes","NO",true,null,null,null,"2026-01-01","12:30","1","1",1,"x","-","."]"#
    );
}

#[test]
fn plain_scalars_keep_their_notation_where_a_text_is_required() {
    let text = "mif_version: \"1.0\"\nexport: {id: exp_a, user_id: 0x1F}\nmemories:\n- content: +4917\n  tags: [TRUE, .5, 0o17]\n  importance: .5\n  x_new: +1\n";
    let mut tree = wire::restore_text(yaml::parse(text, 10.into()).unwrap());
    yaml::to_json_notation(&mut tree);
    let mut out = String::new();
    tree.write(&mut out);
    assert_eq!(
        out,
        r#"{"mif_version":"1.0","export":{"id":"exp_a","user_id":"0x1F"},"memories":[{"content":"+4917","tags":["TRUE",".5","0o17"],"importance":0.5,"x_new":1}]}"#
    );
}

#[test]
fn written_yaml_reads_back_unchanged() {
    let long = "k".repeat(3000);
    let json = format!(
        r#"{{"plain_key":1,"yes":"no","a b":[],"$schema":{{}},"":null,"{long}":[[1,[2,{{"x":[]}}]],[],{{}}],"t":"line\nbreak\t\"q\" \\ # : - \u2028\u0085\u007f\u0000 😀","e":[1e5,1E-7,-2.5e+3,0.10],"deep":{}1{},"o":[{{"{long}":{{"{long}":1}},"b":[{{"c":[{{"d":null}}]}}]}}]}}"#,
        "{\"x\":[".repeat(40),
        "]}".repeat(40)
    );
    let json = json.replacen("{\"plain_key\":1", &format!("{{\"plain_key\":{}{}", "[".repeat(300), "]".repeat(300)), 1);
    let tree = Tree::parse(&json, 600).unwrap();
    let Tree::Object(members) = &tree else { panic!() };
    let mut text = String::new();
    members.iter().for_each(|(key, value)| yaml::write_member(key, value, 0, &mut text));
    let (mut before, mut after) = (String::new(), String::new());
    canonical(&tree, &mut before);
    canonical(&yaml::parse(&text, 600.into()).unwrap(), &mut after);
    assert_eq!(before, after);
    assert!(text.contains("1.0e+5") && text.contains("1.0e-7"), "numbers to YAML 1.1 as well");
    if let Some(folder) = std::env::var_os("MEMENTORY_MIF_OUT") {
        std::fs::write(std::path::Path::new(&folder).join("scalars.yaml"), text).unwrap();
        std::fs::write(std::path::Path::new(&folder).join("scalars.json"), before).unwrap();
    }
}

#[test]
fn both_versions_give_a_record_the_same_key() {
    let id = "5f0c1d2e-0001-4a00-8a00-000000000001";
    for other in ["mem_5f0c1d2e-0001-4a00-8a00-000000000001", "todo_5F0C1D2E-0001-4A00-8A00-000000000001", id] {
        assert_eq!(wire::bare_id(other), id);
    }
    assert_eq!(wire::bare_id("mem_1"), "mem_1");
    assert_eq!(wire::bare_id("entity:Tea"), "entity:Tea");
}
