// Program.cs
using System.Xml.Linq;

using var http = new HttpClient(); // keeps cookies

async Task<XElement> Call(Dictionary<string, string> form)
{
    using var response = await http.PostAsync(args[0], new FormUrlEncodedContent(form));
    var reply = XElement.Load(await response.Content.ReadAsStreamAsync());
    if ((string?)reply.Element("status") != "SUCCESS") throw new Exception((string?)reply.Element("info"));
    return reply;
}

await Call(new() { ["func"] = "login", ["email"] = "demo@waybook.example", ["password"] = args[1] });
var added = await Call(new()
{
    ["func"] = "addAlbum", ["albumTitle"] = "台北一日", ["category"] = "5", ["lat"] = "25.034", ["lng"] = "121.5645",
});
long id = (long)added.Element("albumID")!;
var album = await Call(new() { ["func"] = "getAlbum", ["albumID"] = id.ToString() });
Console.WriteLine($"{id} {(string?)album.Element("albumTitle")}");
